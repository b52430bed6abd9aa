"""Brings in corrections from a service that watches this agent from outside."""

import random
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import ClassVar, Final, NamedTuple

from otel_watchdog.channels.base import Ended, Mailbox
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Correction, Mode, Observation, RunEnded, RunStarted
from otel_watchdog.transport.background import Worker
from otel_watchdog.transport.barrier import Barrier
from otel_watchdog.transport.feedback_api import MAX_BACKOFF_SECONDS, FeedbackApi, Stream

CLOSE_SECONDS: Final = 2.0
MIN_BACKOFF_SECONDS: Final = 0.5
MAX_ACKS: Final = 256
"""Acknowledgements that wait for the service."""
MAX_ACKS_AT_ONCE: Final = 64
MAX_BARRIER_MS: Final = 1000
MAX_KNOWN: Final = 1024
"""Corrections from the service that are remembered until they are acknowledged."""


class _Line(NamedTuple):
    """What there is of one session."""

    stream: Stream
    barrier: Barrier | None

    def close(self, timeout_seconds: float) -> None:
        self.stream.close(timeout_seconds)
        if self.barrier is not None:
            self.barrier.close()


class HttpStream:
    """Listens to a fleet service for each session that runs, and fills the mailbox from there.

    A stream of server-sent events a session, from its run's start to its end, each on a thread of
    its own; a stream that breaks is taken up where it ended, later each time and never for all
    agents at once. What adapters lease and acknowledge is told to the service. With the service
    gone or slow, nothing changes for the agent but that no corrections come.

    A turn's start is a look-up here, so a correction may come a turn late, or several. With a
    barrier it comes when it is due: before the look-up, spans that wait are sent and the service
    is asked to answer when it has judged the session's last one; and where a correction is taken,
    the service is told before what comes of it. Either blocks the agent's thread, or its event
    loop, for `barrier_ms` at most, whatever happens. Where the service does not answer, no turn
    waits again before there is a sign of it on the stream.

    What is decided in this process takes the mailbox alone: here `send` has nothing to do.

    Args:
        url: Of the service, such as `http://collector:4318`.
        token: Shown to the service as a bearer token.
        max_sessions: Streams at once, at least 1; the oldest is closed first.
        silence_seconds: After which a stream counts as broken; the service sends a sign of life
            more often.
        min_backoff_seconds: Waited before a broken stream is taken up again, and twice as long
            each time up to half a minute, from half of it to all of it.
        jitter: Returns from 0 to 1.
        barrier_ms: Milliseconds that a turn's start may wait for the service, from 0, which is
            not at all, to 1000; 25 suits one that is near. A turn that takes a correction may wait
            as long once more, until the service was told.
        flush: Sends the spans that wait, for a barrier; it is given the milliseconds that it may
            last, and called on a thread of ours. Default: `force_flush` of all span processors of
            the agent's tracer provider. Where others than the service get spans, too, give that
            of the processor which exports to the service: else each turn sends to all of them.

    Raises:
        ConfigError: A value is wrong.
    """

    name: ClassVar[str] = "http_stream"

    def __init__(  # noqa: PLR0913 - each has a default that suits most
        self,
        url: str,
        *,
        token: str | None = None,
        max_sessions: int = 32,
        silence_seconds: float = 60.0,
        min_backoff_seconds: float = MIN_BACKOFF_SECONDS,
        jitter: Callable[[], float] = random.random,
        barrier_ms: float = 0.0,
        flush: Callable[[int], object] | None = None,
    ) -> None:
        if max_sessions < 1:
            raise ConfigError(f"{self.name}.max_sessions must be at least 1, got {max_sessions!r}")
        if not (silence_seconds > 0 and 0 < min_backoff_seconds <= MAX_BACKOFF_SECONDS):
            raise ConfigError(
                f"{self.name}.silence_seconds must be above 0 and .min_backoff_seconds above 0 "
                f"and at most {MAX_BACKOFF_SECONDS}, got {silence_seconds!r}, "
                f"{min_backoff_seconds!r}"
            )
        if not 0 <= barrier_ms <= MAX_BARRIER_MS:
            raise ConfigError(
                f"{self.name}.barrier_ms must be from 0 to {MAX_BARRIER_MS}, got {barrier_ms!r}"
            )
        self.barrier_ms = barrier_ms
        self._flush = flush
        self._api = FeedbackApi(url, token=token, setting=f"{self.name}.url")
        self._max_sessions = max_sessions
        self._silence_seconds = silence_seconds
        self._min_backoff_seconds = min_backoff_seconds
        self._jitter = jitter
        self._mailbox: Mailbox | None = None
        self._streams: OrderedDict[str, _Line] = OrderedDict()
        self._runs: dict[str, set[str]] = {}
        self._known: OrderedDict[str, str] = OrderedDict()
        """Sessions by the id of a correction that came from the service."""
        self._acks: deque[tuple[str, str, str]] = deque(maxlen=MAX_ACKS)
        self._lock = Lock()
        self._closed = False
        self._poster = Worker(self._post, name=f"watchdog-{self.name}-acks", on_fork=self._renew)
        self._ack_failures = 0
        self._dropped = 0
        self._missed = 0

    @property
    def dropped(self) -> int:
        """Acknowledgements that were given up: the service took none, and too many waited."""
        return self._dropped

    @property
    def missed(self) -> int:
        """Turn starts at which the service had not judged the last span when the barrier ended."""
        return self._missed

    def connect(self, mailbox: Mailbox) -> None:
        """See `Connected.connect`."""
        self._mailbox = mailbox
        mailbox.listen(
            on_lease=lambda correction: self._tell(correction, "lease"),
            on_claim=lambda correction: self._tell(correction, "claim"),
        )

    def observe(self, observation: Observation) -> None:
        """See `Following.observe`: listen from a run's start to its end."""
        if isinstance(observation, RunStarted):
            self._listen(observation.session, observation.run)
        elif isinstance(observation, RunEnded):
            with self._lock:
                runs = self._runs.get(observation.session, set())
                runs.discard(observation.run)
                line = None if runs else self._streams.pop(observation.session, None)
            if line is not None:
                line.close(0)

    def note(self, session: str, ended: Ended) -> None:
        """See `Awaited.note`."""
        barrier = self._barrier(session)
        if barrier is not None:
            barrier.note(f"{ended.trace_id:032x}-{ended.span_id:016x}", self._flush or ended.flush)

    def catch_up(self, session: str) -> None:
        """See `Awaited.catch_up`."""
        barrier = self._barrier(session)
        if barrier is not None and not barrier.wait():
            with self._lock:
                self._missed += 1

    def send(self, correction: Correction) -> None:
        """See `Channel.send`: the mailbox has it already."""

    def close(self) -> None:
        """See `Channel.close`; waits two seconds at most."""
        with self._lock:
            self._closed = True
            lines = list(self._streams.values())
            self._streams.clear()
            self._runs.clear()
        for line in lines:
            line.close(0)
        for line in lines:
            line.close(CLOSE_SECONDS / 2 / len(lines))
        self._poster.close(CLOSE_SECONDS / 2)

    def _listen(self, session: str, run: str) -> None:
        oldest = None
        with self._lock:
            if self._closed or self._mailbox is None:
                return
            self._runs.setdefault(session, set()).add(run)
            if session in self._streams:
                self._streams.move_to_end(session)
                return
            line = self._streams[session] = self._line(session)
            if len(self._streams) > self._max_sessions:
                name, oldest = self._streams.popitem(last=False)
                self._runs.pop(name, None)
        line.stream.open()
        if oldest is not None:
            oldest.close(0)

    def _line(self, session: str) -> _Line:
        listen = partial(
            Stream,
            self._api,
            session,
            self._take,
            silence_seconds=self._silence_seconds,
            backoff=self._backoff,
        )
        if not self.barrier_ms:
            return _Line(listen(), None)
        seconds = self.barrier_ms / 1000
        barrier = Barrier(self._api, session, self._take, tell=self._post_all, seconds=seconds)
        return _Line(listen(on_sign=barrier.resume, on_break=barrier.suspend), barrier)

    def _barrier(self, session: str) -> Barrier | None:
        with self._lock:
            line = self._streams.get(session)
        return line.barrier if line is not None else None

    def _take(self, correction: Correction) -> None:
        mailbox = self._mailbox
        if mailbox is None or correction.mode <= Mode.OBSERVE:
            return
        with self._lock:
            self._known[correction.id] = correction.session
            if len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
        mailbox.send(correction)

    def _tell(self, correction: Correction, stage: str) -> None:
        """Have the service told, if it was its correction."""
        with self._lock:
            session = self._known.get(correction.id)
            if session is None:
                return
            if stage == "claim":
                del self._known[correction.id]
            self._dropped += len(self._acks) == MAX_ACKS
            self._acks.append((session, stage, correction.id))
        barrier = self._barrier(session)
        if barrier is not None:
            barrier.settle(is_claim=stage == "claim")
        self._poster.wake()

    def _post(self) -> float | None:
        """Tell the service of what was leased or acknowledged, in order."""
        with self._lock:
            if not self._acks:
                return None
            session, stage, _ = self._acks[0]
            batch: list[tuple[str, str, str]] = []
            for ack in self._acks:
                if ack[:2] != (session, stage) or len(batch) == MAX_ACKS_AT_ONCE:
                    break
                batch.append(ack)
        was_told = self._api.acknowledge(session, stage, [id_ for _, _, id_ in batch])
        if not was_told:
            self._ack_failures += 1
            return self._backoff(self._ack_failures)
        self._ack_failures = 0
        with self._lock:
            for ack in batch:
                if self._acks and self._acks[0] == ack:
                    self._acks.popleft()
        return self._post() if self._poster.is_closing else 0

    def _post_all(self) -> None:
        """Tell all that waits, unless the service is in trouble."""
        while self._post() == 0:
            pass

    def _backoff(self, failures: int) -> float:
        longest = min(MAX_BACKOFF_SECONDS, self._min_backoff_seconds * 2.0 ** min(failures - 1, 16))
        return longest * (0.5 + self._jitter() / 2)

    def _renew(self) -> None:
        """Begin with nothing in hand in a forked child: its parent goes on listening."""
        self._lock = Lock()
        self._streams = OrderedDict()
        self._runs = {}
        self._acks = deque(maxlen=MAX_ACKS)
