"""One rung up for every correction that reached the agent, to the top and no further."""

from collections.abc import Sequence
from typing import ClassVar, Final

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import CorrectionOutcome, Finding, Severity, Tier
from otel_watchdog.policies.base import Decision

TURNS_LEFT: Final = {Tier.HARD_STOP: 10, Tier.TERMINATE: 3}
"""Turns that a tier leaves to the run, from the turn that was judged."""

MAX_CORRECTIONS: Final = 5


class Ladder:
    """The Nth claimed correction of a run lands at tier `min(N, 5)`; five a run at most.

    A correction that the agent was not given yet does not count, and no new one is made until it
    was. Between two, seconds and turns must pass, so that the agent can react. A finding of
    severity warn goes no higher than force-wrap. Hard-stop caps the run ten turns on, terminate
    three; a cap only ever lowers.

    What the agent did counts, too: one that heeded a correction starts a rung lower the next time,
    one that relapses where it had left.

    Rule: the 5-tier watchdog, and go-steer/core-agent for the limit of warn.

    Args:
        min_turns: Turns before which nothing is corrected, at least 0.
        max_corrections: Corrections a run, 0 to 5.
        refractory_seconds: Seconds between two corrections, at least 0; where the trace has no
            clock, turns alone decide.
        refractory_turns: Turns after a claim before the next correction, at least 0.
        warn_limit: The highest tier that a finding of severity warn may reach, by its word.
        critical_limit: The same for severity critical.
        step_down: Whether a heeded correction takes the ladder one rung down.
        skip_ignored: Whether an ignored one takes it one rung further up.

    Raises:
        ConfigError: A value is out of its bounds.
    """

    __slots__ = (
        "_claimed",
        "_claimed_turn",
        "_critical_limit",
        "_left",
        "_max_corrections",
        "_max_turns",
        "_min_turns",
        "_pending",
        "_refractory_seconds",
        "_refractory_turns",
        "_rung",
        "_sent_at",
        "_skip_ignored",
        "_step_down",
        "_warn_limit",
    )

    name: ClassVar[str] = "ladder"

    def __init__(  # noqa: PLR0913 - each has a default that suits most
        self,
        *,
        min_turns: int = 0,
        max_corrections: int = MAX_CORRECTIONS,
        refractory_seconds: float = 30.0,
        refractory_turns: int = 2,
        warn_limit: str = "force-wrap",
        critical_limit: str = "terminate",
        step_down: bool = True,
        skip_ignored: bool = False,
    ) -> None:
        if not 0 <= max_corrections <= MAX_CORRECTIONS:
            raise ConfigError(
                f"{self.name}.max_corrections must be 0 to {MAX_CORRECTIONS}, "
                f"got {max_corrections!r}"
            )
        if not all(bound >= 0 for bound in (min_turns, refractory_seconds, refractory_turns)):
            raise ConfigError(
                f"{self.name}.min_turns, .refractory_seconds and .refractory_turns must be at "
                f"least 0, got {min_turns!r}, {refractory_seconds!r}, {refractory_turns!r}"
            )
        self._min_turns = min_turns
        self._max_corrections = max_corrections
        self._refractory_seconds = refractory_seconds
        self._refractory_turns = refractory_turns
        self._warn_limit = _tier(f"{self.name}.warn_limit", warn_limit)
        self._critical_limit = _tier(f"{self.name}.critical_limit", critical_limit)
        self._step_down = step_down
        self._skip_ignored = skip_ignored
        self.start_run()

    def start_run(self, *, max_turns: int | None = None) -> None:
        """See `Policy.start_run`."""
        self._claimed = 0
        self._rung = 0
        self._left = 0
        """The highest rung that was stepped down from."""
        self._pending = False
        self._sent_at: float | None = None
        self._claimed_turn: int | None = None
        self._max_turns = max_turns

    def decide(self, findings: Sequence[Finding], *, turn: int, now: float | None) -> Decision:
        """See `Policy.decide`."""
        n = self._claimed + 1
        held = self._held(turn, now)
        if held:
            return Decision(tier=None, n=n, held=held)
        is_critical = findings[0].severity is Severity.CRITICAL
        most = self._critical_limit if is_critical else self._warn_limit
        limit = min(most, findings[0].max_tier or Tier.TERMINATE)
        tier = min(Tier(min(self._rung + 1, len(Tier))), limit)
        self._pending = True
        self._sent_at = now
        return Decision(tier=tier, n=n, max_turns=self._cap(tier, turn))

    def claim(self, *, turn: int) -> None:
        """See `Policy.claim`."""
        if self._pending:
            self._pending = False
            self._claimed += 1
            self._rung = min(self._rung + 1, len(Tier))
            self._claimed_turn = turn

    def withdraw(self) -> None:
        """See `Withdrawing.withdraw`."""
        self._pending = False

    def respond(self, outcome: CorrectionOutcome) -> None:
        """See `Responsive.respond`."""
        if outcome is CorrectionOutcome.HEEDED and self._step_down and self._rung:
            self._left = max(self._left, self._rung)
            self._rung -= 1
        elif outcome is CorrectionOutcome.RELAPSED:
            self._rung = max(self._rung, self._left)
            self._left = 0
        elif outcome is CorrectionOutcome.IGNORED and self._skip_ignored:
            self._rung = min(self._rung + 1, len(Tier) - 1)

    def _held(self, turn: int, now: float | None) -> str:
        """Say why nothing may be said now; "" if something may."""
        if self._claimed >= self._max_corrections:
            return "cap"
        if self._pending:
            return "unclaimed"
        if turn < self._min_turns:
            return "floor"
        return "refractory" if self._is_fresh(turn, now) else ""

    def _is_fresh(self, turn: int, now: float | None) -> bool:
        """Say whether the agent has not had the time to answer the last correction."""
        if self._claimed_turn is None:
            return False
        if turn - self._claimed_turn + 1 < self._refractory_turns:
            return True
        if now is None or self._sent_at is None:
            return False
        return now - self._sent_at < self._refractory_seconds

    def _cap(self, tier: Tier, turn: int) -> int | None:
        if tier not in TURNS_LEFT:
            return None
        cap = turn + TURNS_LEFT[tier]
        self._max_turns = cap if self._max_turns is None else min(self._max_turns, cap)
        return self._max_turns


def _tier(setting: str, word: str) -> Tier:
    """Return the tier that is called `word`.

    Raises:
        ConfigError: None is.
    """
    for tier in Tier:
        if tier.label == word:
            return tier
    words = ", ".join(tier.label for tier in Tier)
    raise ConfigError(f"{setting} must be one of {words}, got {word!r}")
