"""The OpenTelemetry edge: spans in, corrections out; never raises, never blocks."""

import contextlib
import logging
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from otel_watchdog import forks, live_spans
from otel_watchdog.advisor import Advisor, Place
from otel_watchdog.aftermath import Aftermath
from otel_watchdog.channels import Channel, InProcess
from otel_watchdog.channels.base import Ended
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.detectors import Detector
from otel_watchdog.dialects import Dialect
from otel_watchdog.engine import Watchdog
from otel_watchdog.fan_out import FanOut
from otel_watchdog.heartbeat import heartbeat_of
from otel_watchdog.judges import Judge
from otel_watchdog.live_spans import LiveSpan
from otel_watchdog.model import (
    Correction,
    Finding,
    Mode,
    Observation,
    Outcome,
    RunStarted,
    Suppressed,
    ToolCall,
    ToolResult,
)
from otel_watchdog.policies import Policy
from otel_watchdog.reloading import Reloader
from otel_watchdog.scopes import Scopes
from otel_watchdog.second_opinion import Answer
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import LogRecord, Reading
from otel_watchdog.streams.span_tree import Node
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.version import VERSION
from otel_watchdog.vitals import Vitals
from otel_watchdog.wording import Wording, built_in

_logger = logging.getLogger(__name__)

_made: deque["weakref.ref[WatchdogSpanProcessor]"] = deque(maxlen=1)
"""The one made last."""

ErrorListener = Callable[[str, Exception], None]


class WatchdogSpanProcessor(SpanProcessor):
    """Watches the agents whose spans pass through a tracer provider, and corrects them.

    >>> from opentelemetry.sdk.trace import TracerProvider
    >>> provider = TracerProvider()
    >>> provider.add_span_processor(WatchdogSpanProcessor())

    Add it before exporters. Nothing it does raises into the traced program or waits for anything;
    what fails inside is logged once a place, counted, and a plug-in that fails three times is
    switched off.

    Args:
        config: Settings; default: from the environment and the file it names.
        detectors: Patterns to look for; default: all that are built in.
        policy: Picks tiers; default: the ladder.
        channels: Ways to the agents; default: a mailbox in this process, which adapters read.
            A channel of this kind is always there.
        dialects: Readers of instrumentations; default: all that are built in.
        tracer_provider: Where correction spans go; default: where the judged spans go.
        on_outcome: Called when it is known what an agent did after a correction.
        on_suppressed: Called with each finding that led to no correction of its own.
        on_error: Called with the place and the error where something of ours fails; default: log
            it once. For tests: `otel_watchdog.testing.reraise`.
        wording: Finds the words for corrections; default: the built-in texts.
        judge: Asked, rarely, where the rules see nothing; default: the settings', if any.
    """

    def __init__(  # noqa: PLR0913 - each has a default that suits most
        self,
        *,
        config: WatchdogConfig | None = None,
        detectors: Sequence[Detector] | None = None,
        policy: Policy | None = None,
        channels: Sequence[Channel] | None = None,
        dialects: Sequence[Dialect] | None = None,
        tracer_provider: trace.TracerProvider | None = None,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_suppressed: Callable[[Suppressed], None] | None = None,
        on_error: ErrorListener | None = None,
        wording: Wording = built_in,
        judge: Judge | None = None,
    ) -> None:
        self._config = config or WatchdogConfig.load()
        self._channels = FanOut(
            channels or (), on_lease=self._lease, on_claim=self._claim, on_error=self._fail
        )
        self._scopes = Scopes(dialects, on_error=self._fail)
        self._sessions = Sessions(
            self._read_open,
            max_sessions=self._config.max_sessions,
            ttl_seconds=self._config.session_ttl_seconds,
            max_open_spans=self._config.max_open_spans,
        )
        self._aftermath = Aftermath(on_outcome, on_suppressed)
        self._engine = Watchdog(
            config=self._config,
            detectors=detectors,
            policy=policy,
            on_finding=self._find,
            on_outcome=self._aftermath.conclude,
            on_suppressed=self._aftermath.suppress,
            on_error=self._fail,
            wording=wording,
        )
        self._advisor = Advisor.of(
            judge, self._config, settle=self._settle, deliver=self._advise, on_error=self._fail
        )
        self._reloader = Reloader(self._config, self._engine.configure)
        self._open_spans = self._sessions.open_spans
        self._plain = self._scopes.plain
        self._provider = tracer_provider
        self._telemetry: Telemetry | None = None
        self._flush: Callable[[int], object] = live_spans.no_flush
        self._on_error = on_error
        self._failed: dict[str, int] = {}
        self._aftermath.listen(policy)
        self._vitals = Vitals(self.known_sessions, self.mailbox, lambda: self._engine.mode)
        self._heartbeat = heartbeat_of(self._config, self._open_spans, self._fail)
        self._off = self._config.mode is Mode.OFF
        self._closed = False
        self._lock = Lock()
        _made.append(weakref.ref(self))
        forks.renew_in_child(self._renew_lock)

    @property
    def mailbox(self) -> InProcess:
        """Where adapters in this process take corrections from."""
        return self._channels.mailbox

    @property
    def is_closed(self) -> bool:
        """Whether it was shut down: it reads nothing more."""
        return self._closed

    def find_session(self, conversation: str | None, agent: str | None = None) -> str | None:
        """Return the session of an agent in a conversation, for `mailbox`; `None` if not seen."""
        with self._lock:
            return self._sessions.find(conversation, agent)

    def find_session_around(self, span: trace.Span, agent: str | None = None) -> str | None:
        """Return the session of the agent that works in `span`, which is open.

        `None` where that is not certain: a sub-agent never passes for its parent. The agent's
        name decides where the spans around are told apart only when they end.
        """
        place = span.get_span_context()
        if not place.is_valid:
            return None
        with self._lock:
            return self._sessions.find_around(place.trace_id, place.span_id, agent)

    def fail(self, place: str, error: Exception) -> None:
        """Keep a failure of an adapter from the traced program: count it, log it once."""
        self._fail(place, error)

    def known_sessions(self) -> list[str]:
        """Return the sessions that are kept, least recently heard of first."""
        with self._lock:
            return [session.key for session in self._sessions.known()]

    def blind(self, session: str) -> Mapping[str, str]:
        """Return what each detector lacks in `session`, by its name; empty if nothing."""
        with self._lock:
            return self._engine.blind(session)

    def on_start(self, span: Any, parent_context: Context | None = None) -> None:
        """Read a span that begins: see `SpanProcessor.on_start`."""
        try:
            if self._plain.get(span.name) is not span.instrumentation_scope:
                self._started(span, parent_context)
            elif self._open_spans:
                self._link(span)
        except Exception as error:  # noqa: BLE001 - the one guard: nothing raises into the program
            self._fail("on_start", error)

    def on_end(self, span: ReadableSpan) -> None:
        """Read a span that ended: see `SpanProcessor.on_end`."""
        try:
            if self._plain.get(span.name) is not span.instrumentation_scope:
                self._ended(span)
            elif self._open_spans:
                self._unlink(span)
        except Exception as error:  # noqa: BLE001 - the one guard: nothing raises into the program
            self._fail("on_end", error)

    def hear(self, log: LogRecord) -> None:
        """Read a log record that was written in an open span; see `live_logs`."""
        around = self._open_spans.get(log.parent_id) if log.parent_id is not None else None
        if self._off or around is None or around.span is None:
            return
        try:
            reading = self._scopes.read_log(log)
            if reading is None:
                return
            judged = LiveSpan(around.span)
            with self._lock:
                observations = self._sessions.observe_log(log, reading)
                corrections = self._judge(observations, judged, around.reading, around)
            self._channels.observe(observations)
            if corrections:
                self._deliver(corrections, judged, around.reading, around)
            if self._aftermath.waiting:
                self._aftermath.tell(self._telemetry)
        except Exception as error:  # noqa: BLE001 - the one guard: nothing raises into the program
            self._fail("hear", error)

    def shutdown(self) -> None:
        """Close the channels; spans that come later are not read. Safe to call twice."""
        self._off = self._closed = True
        self._channels.close()
        if self._advisor is not None:
            self._advisor.close()
        self._reloader.close()
        if self._heartbeat is not None:
            self._heartbeat.close()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - nothing waits
        """Return true: nothing is held back."""
        return True

    def _link(self, span: Any) -> None:
        """Keep the tree whole where a span that says nothing stands between two that do."""
        parent = span.parent
        if parent is not None and parent.span_id in self._open_spans:
            self._sessions.open(span.context.span_id, parent.span_id, None)

    def _unlink(self, span: ReadableSpan) -> None:
        if span.parent is not None:
            self._open_spans.pop(span.context.span_id, None)

    def _started(self, span: Any, parent_context: Context | None) -> None:
        origin = span.instrumentation_scope
        scope = self._scopes[origin.name]
        if not scope.speaks and self._scopes.is_plain(scope, span.name, origin):
            self._link(span)
            return
        if self._off:
            return
        if self._telemetry is None:
            self._flush = live_spans.flush_of(span)
            self._telemetry = Telemetry(
                self._provider or live_spans.same_pipeline(span), version=VERSION
            )
            if self._advisor is not None:
                self._advisor.telemetry = self._telemetry
        parent = span.parent
        self._sessions.open(
            span.context.span_id,
            parent.span_id if parent is not None else None,
            span,
            parent_context if parent_context is not None else get_current(),
        )
        if self._heartbeat is not None:
            self._heartbeat.touch()

    def _ended(self, span: ReadableSpan) -> None:
        origin: Any = span.instrumentation_scope
        scope = self._scopes[origin.name]
        if not scope.speaks and self._scopes.is_plain(scope, span.name, origin):
            self._unlink(span)
            return
        if self._off:
            return
        begun = self._vitals.begin()
        read = LiveSpan(span)
        reading = self._scopes.read(scope, read)
        with self._lock:
            node = self._sessions.close(read.span_id, read.parent_id)
            observations = self._sessions.observe(node, read, reading)
            corrections = self._judge(observations, read, reading, node)
        self._channels.observe(observations)
        if self._channels.is_awaited and read.place.trace_flags.sampled:
            self._channels.note(observations, Ended(read.trace_id, read.span_id, self._flush))
        if corrections:
            self._deliver(corrections, read, reading, node)
        if self._aftermath.waiting:
            self._aftermath.tell(self._telemetry)
        if begun:
            self._vitals.end(begun)

    def _read_open(self, span: Any) -> Reading | None:
        read = LiveSpan(span)
        return self._scopes.read(self._scopes[read.scope], read)

    def _judge(
        self,
        observations: Sequence[Observation],
        judged: LiveSpan,
        reading: Reading | None,
        node: Node,
    ) -> list[Correction]:
        corrections = []
        observe, advisor = self._engine.observe, self._advisor
        if self._reloader.is_due:
            self._reloader.start_run()
        for observation in observations:
            kind = type(observation)
            if kind is ToolCall or kind is ToolResult:
                correction = observe(observation)
            elif type(observation) is RunStarted:
                correction = self._begin_run(observation, judged, node)
            else:
                correction = observe(observation)
                self._vitals.take(observation)
            if correction is not None:
                corrections.append(correction)
            if advisor is not None:
                advisor.observe(observation, Place(judged, reading, node))
        return corrections

    def _begin_run(self, started: RunStarted, judged: LiveSpan, node: Node) -> Correction | None:
        self._reloader.start_run()
        self._channels.mailbox.start_run(started.session)
        correction = self._engine.observe(started)
        self._vitals.take(started)
        category = live_spans.category_of((judged, *(one.span for one in node.above())))
        self._engine.categorize(started.session, category)
        return correction

    def _find(self, finding: Finding, observation: Observation) -> None:
        self._aftermath.find(finding, observation)
        if self._advisor is not None:
            self._advisor.opinion.find(finding, observation)

    def _settle(self, answer: Answer) -> Correction | None:
        """Have a judge's answer go up the ladder; called on its thread."""
        with self._lock:
            finding = self._advisor.opinion.settle(answer) if self._advisor else None
            if finding is None or self._off:
                return None
            return self._engine.propose(finding, answer.question.observation)

    def _advise(self, corrections: list[Correction], place: Place) -> None:
        self._deliver(corrections, *place)
        self._aftermath.tell(self._telemetry)

    def _deliver(
        self, corrections: list[Correction], judged: LiveSpan, reading: Reading | None, node: Node
    ) -> None:
        """Record and send, with no lock held: exporters and channels may take their time."""
        context = live_spans.beside(judged, node.context)
        around, conversation = live_spans.around(judged, reading, node, context)
        for correction in corrections:
            if self._telemetry is not None:
                said = live_spans.inherited(
                    around, agent=correction.agent, conversation=conversation
                )
                self._telemetry.correct(correction, context, said)
            if correction.mode > Mode.OBSERVE:
                self._channels.send(correction)

    def _lease(self, correction: Correction) -> None:
        try:
            with self._lock:
                self._engine.lease(correction)
        except Exception as error:  # noqa: BLE001 - an adapter calls this from the program
            self._fail("lease", error)

    def _claim(self, correction: Correction) -> None:
        try:
            with self._lock:
                self._engine.claim(correction)
            if self._telemetry is not None:
                self._telemetry.deliver(correction)
        except Exception as error:  # noqa: BLE001 - an adapter calls this from the program
            self._fail("claim", error)

    def _renew_lock(self) -> None:
        """Begin with a free lock in a forked child: its holder stayed behind."""
        self._lock = Lock()

    def _fail(self, place: str, error: Exception) -> None:
        """Keep a failure of ours from the traced program: count it, log it once."""
        if self._on_error is not None:
            self._on_error(place, error)
        count = self._failed[place] = self._failed.get(place, 0) + 1
        if count == 1:
            _logger.error(
                "the watchdog failed in %s; the traced program goes on", place, exc_info=error
            )
        if self._telemetry is not None:
            with contextlib.suppress(Exception):
                self._telemetry.fail(place, error)


def current() -> WatchdogSpanProcessor | None:
    """Return the watchdog of this process: the one made last; `None` if there is none."""
    return _made[-1]() if _made else None
