"""Asks the judge on a thread of its own, and hands on what comes of its verdict."""

import functools
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from opentelemetry import context as otel_context

from otel_watchdog import live_spans
from otel_watchdog.clock import Clock, system_clock, wall_clock
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.judges import Judge
from otel_watchdog.live_spans import LiveSpan
from otel_watchdog.model import Correction, Observation
from otel_watchdog.second_opinion import (
    DETECTOR,
    Answer,
    Question,
    SecondOpinion,
    consult,
    judge_of,
)
from otel_watchdog.spans import Reading
from otel_watchdog.streams.span_tree import Node
from otel_watchdog.transport.background import Worker

if TYPE_CHECKING:
    from otel_watchdog.telemetry import Telemetry

MAX_WAITING: Final = 16
"""Questions that wait for the one before; what comes beyond is not asked."""

PATIENCE: Final = 2.0
"""Times the judge's own timeout after which a question is given up, with the thread it is on."""

MAX_HUNG: Final = 3
"""Questions given up after which nobody is asked any more."""

_UNTRACED: Final = tuple(
    key
    for key in (
        "suppress_instrumentation",
        getattr(otel_context, "_SUPPRESS_INSTRUMENTATION_KEY", None),
    )
    if key
)
"""Keys by which instrumentations are told to leave a call alone."""


class Place(NamedTuple):
    """Where in its trace the judged span stands."""

    judged: LiveSpan
    reading: Reading | None
    node: Node


class Advisor:
    """Asks the judge about live sessions: rarely, on a daemon thread, in the judge's own time.

    What the judge's model does is not traced by its framework: its span is the drift check's.

    Args:
        judge: Who is asked.
        config: The settings.
        settle: Called with each answer; takes the caller's lock, and returns the correction that
            comes of it, if any.
        deliver: Records and sends a correction; called with no lock held.
        on_error: Called with the place and the error where something fails.
        clock: Seconds, for limits and for judges that hang.
    """

    def __init__(
        self,
        judge: Judge,
        config: WatchdogConfig,
        *,
        settle: Callable[[Answer], Correction | None],
        deliver: Callable[[list[Correction], Place], None],
        on_error: Callable[[str, Exception], None],
        clock: Clock = system_clock,
    ) -> None:
        self.opinion = SecondOpinion(config, clock=clock)
        self.telemetry: Telemetry | None = None
        """Where to record; `None`: nowhere yet."""
        self._judge = judge
        self._settle = settle
        self._deliver = deliver
        self._on_error = on_error
        self._clock = clock
        self._hung = 0
        self._lost: deque[tuple[Question, Place]] = deque()
        self._closed = False
        self._renew()

    @classmethod
    def of(cls, judge: Judge | None, config: WatchdogConfig, **ways: Any) -> "Advisor | None":
        """Return one for this judge, else for that of the settings; `None`: there is none.

        Raises:
            ConfigError: The settings' judge cannot be had.
        """
        judge = judge or judge_of(config)
        return cls(judge, config, **ways) if judge is not None else None

    def observe(self, observation: Observation, place: Place) -> None:
        """Take in an observation, under the caller's lock; a question is put aside for the thread.

        Args:
            observation: The session's next fact.
            place: The span that tells of it.
        """
        question = self.opinion.due(observation)
        if question is not None and not self._put(question, place):
            self.opinion.skipped["busy"] += 1
        if self.opinion.skipped:
            self._tell_skipped()

    def close(self) -> None:
        """Ask nobody any more; a question that is open is not waited for. Safe to call twice."""
        self._closed = True
        self._waiting.clear()
        self._worker.close(0.0)

    def _put(self, question: Question, place: Place) -> bool:
        limit = PATIENCE * self.opinion.settings.timeout_seconds
        if self._open is not None and self._clock() - self._open[2] > limit:
            self._give_up(self._open[0], self._open[1])
        if self._closed or self._hung >= MAX_HUNG or len(self._waiting) >= MAX_WAITING:
            self.opinion.settle(Answer(question, (), None))
            return False
        self._waiting.append((question, place))
        self._worker.wake()
        return True

    def _give_up(self, question: Question, place: Place) -> None:
        """Leave a judge that hangs to itself, and go on with another thread."""
        self._hung += 1
        self._lost.append((question, place))
        waiting = self._waiting
        self._renew()
        self._waiting.extend(waiting)
        self._worker.wake()

    def _renew(self) -> None:
        """Begin with a thread of its own, also in a forked child."""
        self._waiting: deque[tuple[Question, Place]] = deque()
        self._open: tuple[Question, Place, float] | None = None
        work = functools.partial(self._work, self._waiting)
        self._worker = Worker(work, name="otel-watchdog-judge", on_fork=self._forget)

    def _forget(self) -> None:
        self._waiting.clear()
        self._lost.clear()
        self._open = None

    def _work(self, waiting: deque[tuple[Question, Place]]) -> None:
        """Ask what waits, one after the other."""
        while True:
            while self._lost:
                question, place = self._lost.popleft()
                self._hand_on(Answer(question, (_hung_check(question),), None), place)
            if self._closed or not waiting:
                return
            question, place = waiting.popleft()
            self._open = (question, place, self._clock())
            answer = self._ask(question)
            if waiting is not self._waiting:
                return  # it was given up meanwhile
            self._open = None
            self._hand_on(answer, place)

    def _ask(self, question: Question) -> Answer:
        values = otel_context.get_current()
        for key in _UNTRACED:
            values = otel_context.set_value(key, True, values)  # noqa: FBT003 - OpenTelemetry's own
        token = otel_context.attach(values)
        try:
            return consult(
                self._judge,
                question,
                self.opinion.settings,
                clock=self._clock,
                on_error=self._on_error,
            )
        finally:
            otel_context.detach(token)

    def _hand_on(self, answer: Answer, place: Place) -> None:
        try:
            correction = self._settle(answer)
            if correction is not None:
                self._deliver([correction], place)
            self._record(answer.checks, place, correction)
        except Exception as error:  # noqa: BLE001 - the thread goes on
            self._on_error("advisor", error)

    def _record(
        self, checks: Sequence[DriftCheck], place: Place, correction: Correction | None
    ) -> None:
        if self.telemetry is None or not checks:
            return
        context = live_spans.beside(place.judged, place.node.context)
        around, conversation = live_spans.around(place.judged, place.reading, place.node, context)
        for check in checks:
            said = live_spans.inherited(around, agent=check.agent, conversation=conversation)
            self.telemetry.check(
                check, context, said, correction=correction.id if correction else None
            )

    def _tell_skipped(self) -> None:
        if self.telemetry is not None:
            for reason, count in self.opinion.skipped.items():
                for _ in range(count):
                    self.telemetry.skip_check(reason)
            self.opinion.skipped.clear()


def _hung_check(question: Question) -> DriftCheck:
    case = question.case
    return DriftCheck(
        session=case.session,
        turn=case.turn,
        verdict="error",
        started_at=wall_clock(),
        seconds=0.0,
        model="",
        provider="",
        instructions="",
        prompt="",
        reason=f"the {DETECTOR} hangs",
        error="TimeoutError",
        agent=case.agent,
    )
