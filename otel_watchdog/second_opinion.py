"""When a judge is asked about a session, and what comes of its verdict.

Pure: no thread, no clock that it is not given, no model. The processor asks on a thread of its own,
a replay at once; both go through `due`, `consult` and `settle`.
"""

import dataclasses
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from otel_watchdog import registry
from otel_watchdog.case_notes import Notes, fits
from otel_watchdog.clock import Clock, system_clock, wall_clock
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.errors import ConfigError, PluginError
from otel_watchdog.judge_settings import JudgeSettings
from otel_watchdog.judges import Case, Judge, Verdict
from otel_watchdog.model import (
    Finding,
    Kind,
    ModelTurn,
    Observation,
    Severity,
    Tier,
    ToolResult,
)
from otel_watchdog.wording import shortened

DETECTOR: Final = "judge"
"""What findings that a verdict leads to go by."""

HOUR: Final = 3600.0
MAX_LISTED: Final = 200
"""Files of a workspace that a judge is shown."""

_DONE: Final = "done_but_continuing"


class Question(NamedTuple):
    """A case that is to be judged."""

    case: Case
    observation: Observation
    """The latest that it rests on."""
    rules: int
    """What rules had found in the run."""
    must_confirm: bool
    """Whether a verdict is put to the judge once more before anything is said: always, or where
    something was said for one in this run, so that the next could lead to more than a redirect."""


class Answer(NamedTuple):
    """What came of a question."""

    question: Question
    checks: tuple[DriftCheck, ...]
    """Each time that the judge was asked, for the records."""
    verdict: Verdict | None
    """That the agent is stuck or done; `None`: nothing is to be said."""
    is_confirmed: bool = False


class SecondOpinion:
    """Follows sessions, says when the judge is to be asked, and makes findings of its verdicts.

    It is asked where the rules have been quiet, nobody has spoken to the agent, the deliverable is
    missing and the wait is over; so often a run and an hour, and about one thing at a time.

    Args:
        config: The settings.
        clock: For the limit an hour; `None`: the trace's own times.
    """

    def __init__(self, config: WatchdogConfig, *, clock: Clock | None = system_clock) -> None:
        self.settings: JudgeSettings = config.judge
        self.skipped: Counter[str] = Counter()
        """Questions that a limit kept from being asked, by its word."""
        self._rules = config.rules()
        self._max_sessions = config.max_sessions
        self._clock = clock
        self._sessions: OrderedDict[str, Notes] = OrderedDict()
        self._hour: deque[float] = deque(maxlen=max(1, self.settings.max_per_hour))

    def find(self, finding: Finding, observation: Observation) -> None:
        """Take note of what rules find: they are not quiet."""
        notes = self._sessions.get(observation.session)
        if finding.max_tier is None and notes is not None:
            notes.rules += 1
            notes.begin_waiting()

    def due(self, observation: Observation) -> Question | None:
        """Take in an observation; return what the judge is to be asked now, if anything."""
        key = observation.session
        notes = self._sessions.get(key)
        if notes is None:
            notes = self._sessions[key] = Notes()
            if len(self._sessions) > self._max_sessions:
                self._sessions.popitem(last=False)
        notes.observe(observation)
        if not self._is_time(notes, observation):
            return None
        self._sessions.move_to_end(key)
        deliverable = self._deliverable(notes.agent)
        if self._is_let_be(notes, deliverable) or not self._is_within_limits(notes):
            return None
        self._spend(notes)
        notes.begin_waiting()
        notes.is_asking = True
        case = notes.case(key, deliverable)
        return Question(case, observation, notes.rules, self._confirms(notes))

    def settle(self, answer: Answer) -> Finding | None:
        """Return the finding that an answer leads to; `None`: none, or it comes too late."""
        case = answer.question.case
        notes = self._sessions.get(case.session)
        if notes is None or notes.run != case.run:
            return None
        notes.is_asking = False
        for _ in answer.checks[1:]:
            self._spend(notes)
        verdict = answer.verdict
        if verdict is None or notes.has_ended or notes.rules != answer.question.rules:
            return None
        notes.speaks += 1
        return _finding(notes, answer, verdict)

    def _is_time(self, notes: Notes, seen: Observation) -> bool:
        settings = self.settings
        if not isinstance(seen, ModelTurn | ToolResult) or notes.is_asking or notes.has_ended:
            return False
        if len(notes.lines) < settings.min_turns:
            return False
        # A model's answer says that the turn before is over; its own has only begun.
        turns = seen.turn - isinstance(seen, ModelTurn) - notes.since_turn
        if turns < settings.min_turns:
            return False
        if notes.now is None or notes.since_time is None:
            return turns >= settings.wait_turns
        return notes.now - notes.since_time >= settings.wait_seconds

    def _is_let_be(self, notes: Notes, deliverable: str) -> bool:
        if deliverable and notes.has_written(deliverable):
            return True
        rule = self._rules.agent(notes.agent)
        return rule is not None and rule.exempt

    def _deliverable(self, agent: str | None) -> str:
        wanted = self.settings.deliverables
        return next((what for who, what in wanted.items() if fnmatchcase(agent or "", who)), "")

    def _is_within_limits(self, notes: Notes) -> bool:
        now = self._now(notes)
        while now is not None and self._hour and now - self._hour[0] >= HOUR:
            self._hour.popleft()
        questions = 1 + self._confirms(notes)
        if notes.asked + questions > self.settings.max_per_run:
            return self._refuse(notes, "run_budget")
        if now is not None and len(self._hour) + questions > self.settings.max_per_hour:
            return self._refuse(notes, "hour_budget")
        return True

    def _confirms(self, notes: Notes) -> bool:
        return self.settings.confirm == "always" or notes.speaks > 0

    def _refuse(self, notes: Notes, limit: str) -> bool:
        if limit not in notes.refused:
            notes.refused.add(limit)
            self.skipped[limit] += 1
        return False

    def _spend(self, notes: Notes) -> None:
        notes.asked += 1
        now = self._now(notes)
        if now is not None:
            self._hour.append(now)

    def _now(self, notes: Notes) -> float | None:
        return self._clock() if self._clock is not None else notes.now


def judge_of(config: WatchdogConfig) -> Judge | None:
    """Return the judge that settings ask for; `None`: they name no model.

    Raises:
        ConfigError: It does not exist, its package is not installed, or its model is not known.
    """
    settings = config.judge
    if settings.model is None:
        return None
    try:
        make: Callable[..., Judge] = registry.find("judges", settings.name)
    except PluginError as error:
        raise ConfigError(f"{config.place('judge', 'name')}judge.name: {error}") from None
    return make(
        settings.model,
        confirm_model=settings.confirm_model,
        timeout_seconds=settings.timeout_seconds,
    )


def consult(
    judge: Judge,
    question: Question,
    settings: JudgeSettings,
    *,
    clock: Clock = system_clock,
    on_error: Callable[[str, Exception], None] | None = None,
) -> Answer:
    """Ask the judge, a second time where that is needed; takes its time and never raises.

    Args:
        judge: Who is asked.
        question: What.
        settings: How sure it must be.
        clock: For how long it took.
        on_error: Called where the judge raises.
    """
    case = question.case
    there = listing(settings.workspace)
    if case.deliverable and any(fits(path, case.deliverable) for path in there):
        return Answer(question, (), None)
    if there:
        known = dict.fromkeys((*case.exists, *there))
        case = dataclasses.replace(case, exists=tuple(known)[:MAX_LISTED])
    verdict, check = _ask(judge, case, clock, on_error, confirm=False)
    checks = (check,)
    if verdict is None or not speaks(verdict, settings.min_confidence):
        return Answer(question, checks, None)
    if not question.must_confirm:
        return Answer(question, checks, verdict)
    second, check = _ask(judge, case, clock, on_error, confirm=True)
    sure = settings.confirm_confidence
    agree = second is not None and second.word == verdict.word
    confident = second is not None and min(verdict.confidence, second.confidence) >= sure
    return Answer(question, (*checks, check), verdict if agree else None, agree and confident)


def speaks(verdict: Verdict, confidence: float) -> bool:
    """Say whether something is to be said for a verdict."""
    return verdict.word != "progressing" and verdict.confidence >= confidence


def listing(workspace: str | None) -> Sequence[str]:
    """Return the files of a folder and of those in it, hidden ones left out; relative, sorted."""
    if workspace is None:
        return ()
    root = Path(workspace)
    found: list[str] = []
    try:
        for pattern in ("*", "*/*", "*/*/*"):
            for path in root.glob(pattern):
                at = path.relative_to(root)
                if not any(part.startswith(".") for part in at.parts) and path.is_file():
                    found.append(at.as_posix())
                    if len(found) >= MAX_LISTED:
                        return sorted(found)
    except OSError:
        pass
    return sorted(found)


def _ask(
    judge: Judge,
    case: Case,
    clock: Clock,
    on_error: Callable[[str, Exception], None] | None,
    *,
    confirm: bool,
) -> tuple[Verdict | None, DriftCheck]:
    began, at = clock(), wall_clock()
    try:
        ruling = judge.judge(case, confirm=confirm)
        verdict = ruling.verdict
        if not isinstance(verdict, Verdict):
            raise PluginError(f"a verdict must be a Verdict, got {type(verdict).__name__}")  # noqa: TRY301 - as what the judge raises
    except Exception as error:  # noqa: BLE001 - a plug-in, and whatever its model leads to
        if on_error is not None:
            on_error(DETECTOR, error)
        failed = DriftCheck(
            session=case.session,
            turn=case.turn,
            verdict="error",
            started_at=at,
            seconds=clock() - began,
            model="",
            provider="",
            instructions="",
            prompt="",
            reason=type(error).__name__,
            error=type(error).__name__,
            agent=case.agent,
        )
        return None, failed
    return verdict, DriftCheck(
        session=case.session,
        turn=case.turn,
        verdict=verdict.word,
        started_at=at,
        seconds=clock() - began,
        model=ruling.model,
        provider=ruling.provider,
        instructions=ruling.instructions,
        prompt=ruling.prompt,
        answer=ruling.answer,
        reason=verdict.reason,
        agent=case.agent,
        confidence=verdict.confidence,
        input_tokens=ruling.input_tokens,
        output_tokens=ruling.output_tokens,
        cost_usd=ruling.cost_usd,
        prompt_name=ruling.prompt_name,
        prompt_version=ruling.prompt_version,
    )


def _finding(notes: Notes, answer: Answer, verdict: Verdict) -> Finding:
    """Return what a verdict leads to; the judge's own words are for the operator alone.

    A tool's result may have told the judge what to say: so none of it is put before the agent.
    """
    is_done = verdict.word == _DONE
    turns = len({note.turn for note in notes.lines})
    called = Counter(tool for _, tool in notes.calls).most_common(3)
    tools = ", ".join(f"{shortened(tool, 60)} {count} times" for tool, count in called)
    calls = f" ({tools})" if tools else ""
    if is_done:
        guidance = (
            f"Somebody who has read your last {turns} turns{calls} takes the task for done. Check "
            "once that nothing is missing."
        )
    else:
        guidance = (
            f"Somebody who has read your last {turns} turns{calls} sees nothing in them that "
            "brings the task nearer. Say in one sentence what is still missing, and what of it "
            "you have not tried yet."
        )
    said = shortened(" ".join(verdict.reason.split()), 300)
    again = ", confirmed" if answer.is_confirmed else ""
    return Finding(
        detector=DETECTOR,
        kind=Kind.DONE_BUT_CONTINUING if is_done else Kind.NO_PROGRESS,
        severity=Severity.WARN,
        reason=f"the judge says {verdict.word} ({verdict.confidence:.2f}{again}): {said}",
        guidance=guidance,
        evidence={
            "verdict": verdict.word,
            "confidence": verdict.confidence,
            "turns": turns,
            "asked": notes.asked,
        },
        key=f"{DETECTOR}:{verdict.word}",
        max_tier=Tier.FORCE_WRAP if answer.is_confirmed else Tier.REDIRECT,
    )
