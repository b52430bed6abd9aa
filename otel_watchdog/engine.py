"""From observations to corrections; no clock, thread or OpenTelemetry of its own."""

import copy
from collections import OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final

from otel_watchdog import config as settings, verdicts
from otel_watchdog.config import Profile, WatchdogConfig
from otel_watchdog.detectors import Detector
from otel_watchdog.evidence.teams import Colleague, Teams
from otel_watchdog.guard import ErrorListener, Guard
from otel_watchdog.memory import Memory
from otel_watchdog.model import (
    Correction,
    Finding,
    Mode,
    Observation,
    Outcome,
    RunStarted,
    Severity,
    Suppressed,
    ToolCall,
    ToolResult,
)
from otel_watchdog.outfits import Outfit
from otel_watchdog.policies import Attached, Decision, Policy, Responsive, Withdrawing
from otel_watchdog.progress import Progress
from otel_watchdog.responses import cause_of
from otel_watchdog.rules import ToolRule
from otel_watchdog.wording import Wording, built_in, worded

FindingListener = Callable[[Finding, Observation], None]
"""Called with each finding and the observation that completed it."""

OutcomeListener = Callable[[Outcome], None]
"""Called with what came of a correction."""

SuppressedListener = Callable[[Suppressed], None]
"""Called with each finding that led to no correction of its own."""

_BY_THE_LAST: Final = frozenset({"cap", "refractory", "unclaimed"})
"""Why a policy holds a finding back, where the corrections before it are the cause."""


class Watchdog:
    """Watches any number of sessions, each by its own copy of the detectors and of the policy.

    >>> from otel_watchdog import RepeatedToolCall, ToolCall
    >>> watchdog = Watchdog(detectors=[RepeatedToolCall(threshold=3)])
    >>> for turn in (1, 2, 3):
    ...     call = ToolCall(session="s", turn=turn, name="ls", arguments="{}")
    ...     correction = watchdog.observe(call)
    >>> correction.span_name
    'watchdog-nudge-turn-3'

    Args:
        config: Settings; default: from the environment.
        detectors: Patterns to look for, in order; default: those of the profile.
        policy: Picks tiers; default: the ladder, as the settings say.
        on_finding: Called with each finding, also with those that lead to no correction.
        on_outcome: Called when it is known what the agent did after a correction.
        on_suppressed: Called with each finding that leads to no correction of its own.
        on_error: Called when a plug-in raises. A detector that raises three times is switched
            off. Default: what it raises comes through.
        wording: Finds the words for corrections; default: the built-in texts.
    """

    def __init__(  # noqa: PLR0913 - each has a default that suits most
        self,
        *,
        config: WatchdogConfig | None = None,
        detectors: Sequence[Detector] | None = None,
        policy: Policy | None = None,
        on_finding: FindingListener | None = None,
        on_outcome: OutcomeListener | None = None,
        on_suppressed: SuppressedListener | None = None,
        on_error: ErrorListener | None = None,
        wording: Wording = built_in,
    ) -> None:
        self._wording = wording
        self._on_finding = on_finding
        self._on_outcome = on_outcome
        self._on_suppressed = on_suppressed
        self._guard = Guard(on_error)
        self._sessions: OrderedDict[str, Memory] = OrderedDict()
        self._teams = Teams()
        self.outfit = Outfit(config or WatchdogConfig.load(), detectors, policy)

    def configure(self, config: WatchdogConfig) -> None:
        """Go by other settings: sessions do from their next run on.

        Raises:
            ConfigError: A detector, policy or option is wrong; the old settings hold.
        """
        self.outfit.configure(config)

    @property
    def mode(self) -> Mode:
        """What may be done now: the settings' mode, lowered while `OTEL_WATCHDOG_PAUSE` is set."""
        mode = self.outfit.config.mode
        return Mode.OBSERVE if mode > Mode.OBSERVE and settings.is_paused() else mode

    def observe(  # noqa: C901 - every observation comes through here: one pass, no detours
        self, observation: Observation
    ) -> Correction | None:
        """Take in one observation; return the correction it calls for, if any.

        A session's observations come in order; sessions may be mixed. At most one correction a
        turn. With mode `observe` the correction is a would-be one: record it, do not deliver it.
        """
        kind = type(observation)
        session = self._sessions.get(observation.session)
        if session is None:
            session = self._begin(observation.session)
        if observation.time is not None:
            session.now = observation.time
        if observation.turn > session.turn or kind is RunStarted:
            self._turn(session, observation)
        progress = session.progress
        rule: ToolRule | None = None
        if (
            type(observation) is ToolCall or type(observation) is ToolResult
        ) and observation.name not in self.outfit.plain:
            observation, rule = self.outfit.read(session, observation)
        progress.observe(observation)
        if rule is not None and rule.poll and kind is ToolResult:
            progress.declare_poll()
        if session.responses.open:
            self._tell(session, session.responses.observe(observation, progress))
        found: list[Finding] | None = None
        detectors = session.detectors
        for place in session.watching.get(kind, ()):
            detector = detectors[place]
            try:
                finding = detector.observe(observation, progress)
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
                self._guard.catch(detector.name, error, self._switch_off)
                continue
            if finding is not None:
                found = found or []
                found.append(self._note(finding, observation))
        if not found:
            return None
        return self._correct(session, observation, found, rule)

    def propose(self, finding: Finding, observation: Observation) -> Correction | None:
        """Take in an opinion: a finding that was made above the engine, such as a judge's.

        It goes up the same ladder, no higher than its `max_tier`. What rules find later is neither
        held back by it nor begun anew because of it.

        Args:
            finding: The opinion.
            observation: The latest that it rests on; of a run that is over, nothing comes.
        """
        session = self._sessions.get(observation.session)
        if session is None or observation.turn > session.turn:
            return None
        before = session.before or copy.deepcopy(session.policy_in(self.mode))
        if isinstance(before, Attached):
            before.attach(observation.session)
        finding = self._note(finding, observation)
        correction = self._correct(session, observation, [finding], None)
        if correction is not None:
            session.before = before
        return correction

    def categorize(self, session: str, category: str | None) -> None:
        """Note the category that the trace names for a session's agent; `None`: it names none."""
        found = self._sessions.get(session)
        if found is not None:
            found.assigned = category

    def lease(self, correction: Correction) -> None:
        """Note that `correction` goes out with the session's next model call.

        Evidence starts anew from here: the turns to come answer it. The correction counts once
        it is claimed, too.
        """
        session = self._sessions.get(correction.session)
        if session is None:
            return
        self._begin_anew(session, correction)
        if session.pending is not None and session.pending.id == correction.id:
            session.leased_turn = session.turn + 1

    def claim(self, correction: Correction) -> None:
        """Note that a model call has gone out with `correction`."""
        session = self._sessions.get(correction.session)
        if session is None or session.pending is None or session.pending.id != correction.id:
            return
        if session.leased_turn is None:
            self.lease(correction)
        turn = session.leased_turn or session.turn + 1
        session.policy.claim(turn=turn)
        if session.cause is not None:
            self._tell(
                session,
                session.responses.expect(session.pending, session.cause, turn, session.progress),
            )
        session.pending = session.cause = None
        session.leased_turn = None

    def withdraw(self, correction: Correction) -> None:
        """Note that the agent will never be given `correction`: it holds back no other.

        It does not count, and evidence starts anew.
        """
        session = self._sessions.get(correction.session)
        if session is None or session.pending is None or session.pending.id != correction.id:
            return
        session.pending = session.cause = None
        session.leased_turn = None
        if isinstance(session.policy, Withdrawing):
            session.policy.withdraw()
        self._restart(session)

    def blind(self, session: str) -> Mapping[str, str]:
        """Return what each detector lacks in `session`; those that lack nothing are left out."""
        found = self._sessions.get(session)
        return found.blind() if found is not None else {}

    def forget(self, session: str) -> None:
        """Drop what is known of `session`; nothing, if it is not known."""
        found = self._sessions.pop(session, None)
        if found is not None:
            self._teams.leave(found.progress.team, session)

    def _begin(self, key: str) -> Memory:
        session = self.outfit.memory()
        self._sessions[key] = session
        if isinstance(session.policy, Attached):
            session.policy.attach(key)
        if len(self._sessions) > self.outfit.config.max_sessions:
            self.forget(next(iter(self._sessions)))
        return session

    def _turn(self, session: Memory, observation: Observation) -> None:
        """Note that a turn, or a run, has begun."""
        self._sessions.move_to_end(observation.session)
        if isinstance(observation, RunStarted):
            self._begin_anew(session, session.pending or session.would_be)
            self._tell(session, session.responses.end(session.turn))
            session.start_run(observation.run, observation.agent)
            self._meet(session.progress, observation)
            self.outfit.fit(session, observation.session)
        elif session.would_be is not None:
            self._begin_anew(session, session.would_be)
            session.would_be = None
            if session.shadow is not None:
                session.shadow.claim(turn=observation.turn)
        session.turn = observation.turn

    def _meet(self, progress: Progress, started: RunStarted) -> None:
        """Let an agent and those it works with see each other's calls."""
        colleague = Colleague(started.agent, progress)
        progress.team = self._teams.move(
            progress.team, started.conversation, started.session, colleague
        )

    def _begin_anew(self, session: Memory, correction: Correction | None) -> None:
        """Restart the detectors for a correction that is given, if a rule had called for it."""
        if correction is not None and correction.finding.max_tier is None:
            self._restart(session)

    def _restart(self, session: Memory, names: Container[str] | None = None) -> None:
        """Have detectors gather their evidence anew, but in the profile that never does.

        Args:
            session: Whose detectors.
            names: Which of them; default: all.
        """
        if self.outfit.config.profile is Profile.CLASSIC:
            return
        for detector in session.detectors:
            if names is not None and detector.name not in names:
                continue
            try:
                detector.restart()
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
                self._guard.catch(detector.name, error, self._switch_off)

    def _note(self, finding: Finding, observation: Observation) -> Finding:
        finding = verdicts.without_secrets(finding) if self.outfit.config.redact else finding
        if self._on_finding:
            self._on_finding(finding, observation)
        return finding

    def _tell(self, session: Memory, outcomes: Sequence[Outcome]) -> None:
        """Pass on what came of corrections: to the policy, then to who listens."""
        for outcome in outcomes:
            if isinstance(session.policy, Responsive):
                session.policy.respond(outcome.outcome)
            if self._on_outcome:
                self._on_outcome(outcome)

    def _hold(self, session: Memory, findings: Sequence[Finding], key: str, reason: str) -> None:
        """Tell of findings that lead to no correction of their own."""
        if self._on_suppressed:
            for finding in findings:
                self._on_suppressed(
                    Suppressed(finding=finding, session=key, turn=session.turn, reason=reason)
                )

    def _switch_off(self, name: str) -> None:
        self.outfit.switch_off(name)
        for session in self._sessions.values():
            session.switch_off(name)

    def _correct(
        self,
        session: Memory,
        observation: Observation,
        findings: list[Finding],
        rule: ToolRule | None,
    ) -> Correction | None:
        mode = self.mode
        if mode is Mode.OFF:
            return None
        if self.outfit.is_exempt(session, rule):
            self._hold(session, findings, observation.session, "exempt")
            return None
        self._tell(session, session.responses.find(findings, session.turn))
        is_opinion = findings[0].max_tier is not None
        has_spoken = session.corrected_turn == session.turn
        if has_spoken and (is_opinion or session.before is None):
            self._hold(session, findings, observation.session, "merged")
            return None
        findings.sort(key=lambda finding: finding.severity is not Severity.CRITICAL)
        if session.helpers:
            self._hold(session, findings, observation.session, "delegated")
            return None
        category = self.outfit.category(session)
        if session.turn < self.outfit.rules.floor(session.agent, category[0]):
            decision = Decision(tier=None, n=0, held="floor")
        else:
            decision = _decide(session, mode, findings)
        if decision.tier is None:
            self._hold(session, findings, observation.session, decision.held)
            if decision.held != "unclaimed":
                # A detector fires once a pattern: without a new start, one that completes too
                # early would never be told of, however long it goes on.
                self._restart(session, [finding.detector for finding in findings])
            return None
        session.before = session.before if is_opinion else None
        self._hold(session, findings[1:], observation.session, "merged")
        correction = verdicts.correction(
            session,
            observation.session,
            findings,
            decision=decision,
            tier=decision.tier,
            mode=mode,
            category=category,
        )
        correction = worded(correction, self._wording)
        session.corrected_turn = session.turn
        if mode is Mode.OBSERVE:
            session.would_be = correction
        else:
            session.pending = correction
            session.cause = cause_of(correction.finding, observation, session.progress)
        return correction


def _decide(session: Memory, mode: Mode, findings: Sequence[Finding]) -> Decision:
    """Return what the policy makes of findings; opinions hold back no rule."""
    policy = session.policy_in(mode)
    decision = policy.decide(findings, turn=session.turn, now=session.now)
    if decision.held in _BY_THE_LAST and findings[0].max_tier is None:
        before = session.take_back(mode)
        if before is not None:
            return before.decide(findings, turn=session.turn, now=session.now)
    return decision
