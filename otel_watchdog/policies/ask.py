"""Asks a person before a firm correction: go on, stop, or let this be for a while."""

import copy
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

from otel_watchdog.clock import Clock, system_clock
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import CorrectionOutcome, Finding, Tier
from otel_watchdog.policies.base import Decision, Policy, Responsive, Withdrawing
from otel_watchdog.questions import Answer, Approval, Given, Question, Scope

TURNS_LEFT: Final = 3
"""Turns that a run has left when a person stops it."""

MAX_ALLOWED: Final = 32
"""Permissions that a session holds; the oldest is dropped first."""

_logger = logging.getLogger(__name__)


Record: TypeAlias = Callable[[Approval], None]


@dataclass(slots=True)
class _Allowed:
    key: tuple[str, ...]
    times_left: int
    until: float


@dataclass(slots=True)
class _Shared:
    """What all copies of a policy have in common."""

    ask: Callable[[Question], None]
    clock: Clock
    records: list[Record] = field(default_factory=list)


class Ask:
    """Puts a question to a person before each correction of a tier or firmer.

    While the question is open nothing is said to the agent. The answer is taken when the pattern
    shows the next time: to go on, nothing is said; to stop, the correction is `terminate`; what is
    allowed is let be within its bounds, which are never without end. Without an answer in time,
    the correction is made that was asked about. Every step is told to who listens; the processor
    writes it as a log record `watchdog.approval`.

    While nothing is delivered (mode `observe`), nobody is asked.

    Args:
        policy: Decides on corrections, such as the ladder.
        ask: Called with each question, on the traced program's thread: it must not wait for the
            answer. What it raises counts as no answer.
        from_tier: The mildest tier that is asked about.
        timeout_seconds: How long an answer is waited for, above 0.
        clock: Seconds.

    Raises:
        ConfigError: `timeout_seconds` is not above 0.
    """

    name: ClassVar[str] = "ask"

    def __init__(
        self,
        policy: Policy,
        *,
        ask: Callable[[Question], None],
        from_tier: Tier = Tier.HARD_STOP,
        timeout_seconds: float = 300.0,
        clock: Clock = system_clock,
    ) -> None:
        if not timeout_seconds > 0:
            raise ConfigError(
                f"{self.name}.timeout_seconds must be above 0, got {timeout_seconds!r}"
            )
        self._policy = policy
        self._from_tier = from_tier
        self._timeout_seconds = timeout_seconds
        self._shared = _Shared(ask, clock)
        self._session: str | None = None
        self._question: Question | None = None
        self._allowed: list[_Allowed] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ask":
        new = copy.copy(self)
        vars(new).update(
            _policy=copy.deepcopy(self._policy, memo),
            _allowed=copy.deepcopy(self._allowed, memo),
            _session=None,
            _question=None,
        )
        return new

    def attach(self, session: str) -> None:
        """See `Attached.attach`: a copy without a session, which only tries, asks nobody."""
        self._session = session

    def audit(self, record: Record) -> None:
        """Have `record` called, too, with each step of each question; also of later copies."""
        self._shared.records.append(record)

    def start_run(self, *, max_turns: int | None = None) -> None:
        """See `Policy.start_run`; what is allowed holds on."""
        self._policy.start_run(max_turns=max_turns)
        self._question = None

    def decide(self, findings: Sequence[Finding], *, turn: int, now: float | None) -> Decision:
        """See `Policy.decide`."""
        trial = copy.deepcopy(self._policy)
        decision = trial.decide(findings, turn=turn, now=now)
        if decision.tier is None or decision.tier < self._from_tier or self._session is None:
            self._policy = trial
            return decision
        held = self._held(self._session, findings[0], turn, decision.tier)
        if isinstance(held, str):
            return Decision(tier=None, n=decision.n, held=held)
        self._policy = trial
        if held is Answer.STOP:
            cap = min(decision.max_turns or turn + TURNS_LEFT, turn + TURNS_LEFT)
            return decision._replace(tier=Tier.TERMINATE, max_turns=cap)
        return decision

    def claim(self, *, turn: int) -> None:
        """See `Policy.claim`."""
        self._policy.claim(turn=turn)

    def withdraw(self) -> None:
        """See `Withdrawing.withdraw`."""
        if isinstance(self._policy, Withdrawing):
            self._policy.withdraw()

    def respond(self, outcome: CorrectionOutcome) -> None:
        """See `Responsive.respond`."""
        if isinstance(self._policy, Responsive):
            self._policy.respond(outcome)

    def _held(self, session: str, finding: Finding, turn: int, tier: Tier) -> str | Answer | None:
        """Say why nothing is said now, or what a person says should be; `None`: nobody says."""
        if self._uses_permission(finding, turn, tier):
            return "allowed"
        question = self._question
        if question is None:
            return "asked" if self._put(session, finding, turn, tier) else None
        given = question.given
        if given is None and self._shared.clock() - question.asked_at < self._timeout_seconds:
            return "asked"
        self._question = None
        if given is None:
            self._note("unanswered", question)
            return None
        self._note(given.answer.value, question, given)
        if given.answer is Answer.ALLOW:
            self._allow(question, given)
        return given.answer if given.answer is Answer.STOP else "allowed"

    def _put(self, session: str, finding: Finding, turn: int, tier: Tier) -> bool:
        question = Question(
            session=session, turn=turn, tier=tier, finding=finding, asked_at=self._shared.clock()
        )
        try:
            self._shared.ask(question)
        except Exception:
            _logger.exception("nobody could be asked about a correction, so it is made")
            return False
        self._question = question
        self._note("asked", question)
        return True

    def _allow(self, question: Question, given: Given) -> None:
        until = self._shared.clock() + given.seconds
        key = _key(question.finding, given.scope)
        # The answer lets be what was asked about: this is the first time.
        self._allowed.append(_Allowed(key, given.max_times - 1, until))
        del self._allowed[:-MAX_ALLOWED]

    def _uses_permission(self, finding: Finding, turn: int, tier: Tier) -> bool:
        now = self._shared.clock()
        self._allowed = [a for a in self._allowed if a.times_left > 0 and a.until > now]
        for allowed in self._allowed:
            if any(allowed.key == _key(finding, scope) for scope in Scope):
                allowed.times_left -= 1
                used = Question(
                    session=self._session or "", turn=turn, tier=tier, finding=finding, asked_at=now
                )
                self._note("used", used)
                return True
        return False

    def _note(self, step: str, question: Question, given: Given | None = None) -> None:
        allows = given is not None and given.answer is Answer.ALLOW
        approval = Approval(
            step=step,
            session=question.session,
            turn=question.turn,
            finding=question.finding,
            tier=question.tier,
            scope=given.scope if given is not None and allows else None,
            max_times=given.max_times if given is not None and allows else None,
            seconds=given.seconds if given is not None and allows else None,
            by=given.by if given is not None else "",
        )
        for record in self._shared.records:
            record(approval)


def _key(finding: Finding, scope: Scope) -> tuple[str, ...]:
    """Say what an answer of this scope is about."""
    if scope is Scope.SESSION:
        return (scope.value,)
    tool = finding.evidence.get("tool", finding.evidence.get("tools", finding.detector))
    if scope is Scope.TOOL:
        return (scope.value, str(tool))
    said = (f"{k}={v}" for k, v in sorted(finding.evidence.items()) if isinstance(v, str))
    return (scope.value, finding.detector, *said)
