"""Shows recorded runs to the engine as if they happened now, and keeps what it says."""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from otel_watchdog import recordings
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.detectors import Detector
from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.errors import InputError
from otel_watchdog.judges import Judge
from otel_watchdog.model import (
    Finding,
    ModelTurn,
    Observation,
    Outcome,
    RunStarted,
    Suppressed,
    ToolCall,
)
from otel_watchdog.otlp import Recorded, SpanStream
from otel_watchdog.policies import Policy
from otel_watchdog.recordings import RecordedRun, Source, Window
from otel_watchdog.replay.delivery import Delivery, ErrorListener
from otel_watchdog.replay.report import (
    Checked,
    Concluded,
    Corrected,
    Found,
    Observed,
    ReplayedRun,
    SessionSummary,
)
from otel_watchdog.scopes import Scopes

MAX_ERRORS: Final = 3
"""Failures of a run that are told of one by one."""

_SUFFIXES = re.compile(r"(?<=.)(\.[A-Za-z]\w*)+$")


def read(  # noqa: PLR0913 - each has a default that suits most
    path: str | Path | BinaryIO,
    *,
    also: Sequence[str | Path | BinaryIO] = (),
    config: WatchdogConfig | None = None,
    detectors: Sequence[Detector] | None = None,
    policy: Policy | None = None,
    judge: Judge | None = None,
    keep_observations: bool = True,
    window: Window | None = None,
    on_read: Callable[[int], None] | None = None,
    on_error: ErrorListener | None = None,
) -> Iterator[ReplayedRun]:
    """Yield what the watchdog makes of each run in a recording.

    Memory is bounded by the window and by the largest single run in observation lines, if
    observations are not kept. What does not fit waits in a temporary file.

    Args:
        path: OTLP/JSON, OTLP protobuf or observation lines, also gzipped, told by content; `-`
            is standard input.
        also: Files that belong to the same recording, such as its log records.
        config: Settings; default: from the environment.
        detectors: Patterns to look for; default: all that are built in.
        policy: Picks tiers; default: the ladder.
        judge: Asked where the rules see nothing; default: nobody, whatever the settings say.
        keep_observations: Whether runs carry their observations.
        window: Puts spans in the order of time; default: one of 100,000 spans.
        on_read: Called with the number of bytes just read from the file.
        on_error: Called where a span makes one of our parts fail; default: note it in the run.

    Raises:
        InputError: The recording cannot be read. Of one that has a run or request a line, the
            runs before the bad line were yielded.
        ConfigError: A setting is wrong.
    """
    config = config or WatchdogConfig.load()

    def judging() -> _Judge:
        engine = Delivery(config, detectors, policy, judge)
        return _Judge(engine, keep_observations=keep_observations, on_error=on_error)

    with (
        contextlib.ExitStack() as stack,
        contextlib.closing(window or Window()) as spans,
    ):
        sources = [
            stack.enter_context(recordings.open_source(one, on_read=on_read))
            for one in (path, *also)
        ]
        yield from _judged(sources, judging, spans)


def _judged(
    sources: Sequence[Source], judge: Callable[[], "_Judge"], window: Window
) -> Iterator[ReplayedRun]:
    stem = _stem(sources[0].name)
    spans: _Spans | None = None
    runs = 0
    try:
        for item in _items(sources):
            if isinstance(item, RecordedRun):
                runs += 1
                yield _judge_run(item, judge(), item.id or f"{stem}:{item.line}")
            else:
                spans = spans or _Spans(judge(), window)
                spans.add(item)
    except InputError:
        if spans and any(source.is_sequence for source in sources):
            yield spans.end(stem)
        raise
    if spans or not runs:
        yield (spans or _Spans(judge(), window)).end(stem)


def _items(sources: Sequence[Source]) -> Iterator[Recorded | RecordedRun]:
    for source in sources:
        yield from recordings.read(source)


def _judge_run(run: RecordedRun, judge: "_Judge", name: str) -> ReplayedRun:
    for event, observation in recordings.observations_of(run, name):
        judge.observe(event, observation)
    return judge.run(name, {})


class _Spans:
    """One OTLP recording on its way through dialects and sessions."""

    def __init__(self, judge: "_Judge", window: Window) -> None:
        self._judge = judge
        self._window = window
        self._stream = SpanStream(Scopes(on_error=judge.fail))
        self._count = 0

    def add(self, span: Recorded) -> None:
        self._feed(self._window.add(self._count, span))
        self._count += 1

    def end(self, name: str) -> ReplayedRun:
        self._feed(self._window.rest())
        return self._judge.run(name, self._names())

    def _feed(self, moments: Iterator[tuple[int, Recorded, bool]]) -> None:
        for index, span, begins in moments:
            try:
                if begins:
                    self._stream.open(span)
                    continue
                told = self._stream.close(span)
            except Exception as error:  # noqa: BLE001 - the guard: spans come from anywhere
                self._judge.fail(f"span {index}", error)
                continue
            for observation in told:
                self._judge.observe(index, observation)

    def _names(self) -> dict[str, str]:
        """Return what to call each session: its conversation, which may have come late."""
        known = {session.key: session for session in self._stream.sessions.known()}
        names: dict[str, str] = {}
        taken: dict[str, str | None] = {}
        for key in self._judge.sessions:
            session = known.get(key)
            name = session.conversation if session and session.conversation else key
            agent = session.agent if session else None
            if taken.setdefault(name, agent) != agent:
                name = f"{name}/{agent}" if agent else key
            names[key] = name
        return names


class _Tally:
    """Counts what a session amounts to."""

    def __init__(self, agent: str | None) -> None:
        self.agent = agent
        self.runs = 0
        self.turns = 0
        self.calls = 0
        self._turn = 0

    def count(self, observation: Observation) -> None:
        if isinstance(observation, RunStarted):
            self.runs += 1
            self._turn = 0
        elif isinstance(observation, ModelTurn | ToolCall):
            self.calls += isinstance(observation, ToolCall)
            self.turns += observation.turn > self._turn
            self._turn = max(observation.turn, self._turn)


class _Judge:
    """Shows observations to the engine and keeps what comes of them."""

    def __init__(
        self, engine: Delivery, *, keep_observations: bool, on_error: ErrorListener | None
    ) -> None:
        self._engine = engine
        self._keep_observations = keep_observations
        self._on_error = on_error
        self.sessions: dict[str, _Tally] = {}
        self._observations: list[Observed] = []
        self._findings: list[Found] = []
        self._corrections: list[Corrected] = []
        self._outcomes: list[Concluded] = []
        self._checks: list[Checked] = []
        self._errors: list[str] = []
        self._failed = 0
        self._event = 0
        engine.start(
            on_finding=self._find,
            on_outcome=self._conclude,
            on_suppressed=self._suppress,
            on_error=self.fail,
            on_check=self._check,
        )

    def observe(self, event: int, observation: Observation) -> None:
        self._event = event
        key = observation.session
        session = self.sessions.get(key)
        if session is None:
            agent = observation.agent if isinstance(observation, RunStarted) else None
            session = self.sessions[key] = _Tally(agent)
        session.count(observation)
        if self._keep_observations:
            self._observations.append(
                Observed(event=event, session=key, agent=session.agent, observation=observation)
            )
        try:
            correction = self._engine.observe(observation)
        except Exception as error:  # noqa: BLE001 - the guard: content comes from anywhere
            self.fail(f"event {event}", error)
            return
        if correction is not None:
            self._corrections.append(Corrected(event=event, session=key, correction=correction))

    def fail(self, place: str, error: Exception) -> None:
        if self._on_error is not None:
            self._on_error(place, error)
        self._failed += 1
        if self._failed <= MAX_ERRORS:
            self._errors.append(f"{place} failed: {type(error).__name__}: {error}")

    def run(self, name: str, names: Mapping[str, str]) -> ReplayedRun:
        """Return what came of it.

        Args:
            name: The run's id.
            names: What to call sessions, by key; the others go by their key.
        """
        blind: dict[str, dict[str, str]] = {}
        sessions: dict[str, SessionSummary] = {}
        for key, tally in self.sessions.items():
            shown = names.get(key, key)
            lacking = self._engine.blind(key)
            if lacking:
                blind.setdefault(shown, {}).update(lacking)
            one = sessions.setdefault(shown, SessionSummary(id=shown, agent=tally.agent))
            one.runs += tally.runs
            one.turns += tally.turns
            one.calls += tally.calls
        everything: tuple[Observed | Found | Corrected | Concluded | Checked, ...] = (
            *self._observations,
            *self._findings,
            *self._corrections,
            *self._outcomes,
            *self._checks,
        )
        for kept in everything:
            kept.session = names.get(kept.session, kept.session)
        if self._failed > MAX_ERRORS:
            self._errors.append(f"and {self._failed - MAX_ERRORS} failures more")
        return ReplayedRun(
            id=name,
            sessions=list(sessions.values()),
            findings=self._findings,
            corrections=self._corrections,
            outcomes=self._outcomes,
            checks=self._checks,
            blind=blind,
            observations=self._observations,
            errors=self._errors,
        )

    def _find(self, finding: Finding, observation: Observation) -> None:
        self._findings.append(
            Found(
                event=self._event,
                turn=observation.turn,
                session=observation.session,
                finding=finding,
            )
        )

    def _conclude(self, outcome: Outcome) -> None:
        session = outcome.correction.session
        self._outcomes.append(Concluded(event=self._event, session=session, outcome=outcome))

    def _check(self, check: DriftCheck) -> None:
        self._checks.append(Checked(event=self._event, session=check.session, check=check))

    def _suppress(self, suppressed: Suppressed) -> None:
        for found in reversed(self._findings):
            if found.finding is suppressed.finding:
                found.held = suppressed.reason
                return


def _stem(name: str) -> str:
    r"""Return a file's name without folders and suffixes.

    >>> _stem("a/agno__genai-0.1.2.json.gz")
    'agno__genai-0.1.2'
    """
    stem = _SUFFIXES.sub("", Path(name).name) or name
    return stem.encode("utf-8", "backslashreplace").decode()
