"""Nothing but nudges, with time between; thoughts that go on in a circle end the run."""

from collections.abc import Sequence
from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Finding, Kind, Tier
from otel_watchdog.policies.base import Decision


class Spaced:
    """Nudges as often as something is found, but never twice within seconds and turns.

    Of nudges about thoughts there are `max_thoughts` a run; the one that would follow ends the run
    at its turn, or, without `interrupt`, is not made.

    Rule: a watchdog inside a harness, see profile `gentle`.

    Args:
        refractory_seconds: Seconds between two nudges, at least 0; where the trace has no clock,
            turns alone decide.
        refractory_turns: Turns after a claim before the next nudge, at least 0.
        max_thoughts: Nudges about thoughts a run, at least 0.
        interrupt: Whether the run ends where one more would be needed.

    Raises:
        ConfigError: A value is out of its bounds.
    """

    __slots__ = (
        "_claimed",
        "_claimed_turn",
        "_interrupt",
        "_max_thoughts",
        "_max_turns",
        "_pending",
        "_refractory_seconds",
        "_refractory_turns",
        "_sent_at",
        "_thoughts",
    )

    name: ClassVar[str] = "spaced"

    def __init__(
        self,
        *,
        refractory_seconds: float = 30.0,
        refractory_turns: int = 2,
        max_thoughts: int = 2,
        interrupt: bool = True,
    ) -> None:
        if not all(bound >= 0 for bound in (refractory_seconds, refractory_turns, max_thoughts)):
            raise ConfigError(
                f"{self.name}.refractory_seconds, .refractory_turns and .max_thoughts must be at "
                f"least 0, got {refractory_seconds!r}, {refractory_turns!r}, {max_thoughts!r}"
            )
        self._refractory_seconds = refractory_seconds
        self._refractory_turns = refractory_turns
        self._max_thoughts = max_thoughts
        self._interrupt = interrupt
        self.start_run()

    def start_run(self, *, max_turns: int | None = None) -> None:
        """See `Policy.start_run`."""
        self._claimed = 0
        self._thoughts = 0
        self._pending: Kind | None = None
        self._sent_at: float | None = None
        self._claimed_turn: int | None = None
        self._max_turns = max_turns

    def decide(self, findings: Sequence[Finding], *, turn: int, now: float | None) -> Decision:
        """See `Policy.decide`."""
        n = self._claimed + 1
        kind = findings[0].kind
        if self._pending is not None:
            return Decision(tier=None, n=n, held="unclaimed")
        if self._is_fresh(turn, now):
            return Decision(tier=None, n=n, held="refractory")
        if kind is Kind.THOUGHT_REPETITION and self._thoughts >= self._max_thoughts:
            if not self._interrupt:
                return Decision(tier=None, n=n, held="cap")
            self._max_turns = turn if self._max_turns is None else min(turn, self._max_turns)
            self._pending = kind
            return Decision(tier=Tier.TERMINATE, n=n, max_turns=self._max_turns)
        self._pending = kind
        self._sent_at = now
        return Decision(tier=Tier.NUDGE, n=n)

    def claim(self, *, turn: int) -> None:
        """See `Policy.claim`."""
        if self._pending is not None:
            self._claimed += 1
            self._thoughts += self._pending is Kind.THOUGHT_REPETITION
            self._pending = None
            self._claimed_turn = turn

    def withdraw(self) -> None:
        """See `Withdrawing.withdraw`."""
        self._pending = None

    def _is_fresh(self, turn: int, now: float | None) -> bool:
        """Say whether the agent has not had the time to answer the last nudge."""
        if self._claimed_turn is None:
            return False
        if turn - self._claimed_turn + 1 < self._refractory_turns:
            return True
        if now is None or self._sent_at is None:
            return False
        return now - self._sent_at < self._refractory_seconds
