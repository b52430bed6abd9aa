"""Brings in corrections from a service that watches this agent from outside."""

import random
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from typing import ClassVar, Final

from otel_watchdog.channels.base import Mailbox
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Correction, Mode, Observation, RunEnded, RunStarted
from otel_watchdog.transport.background import Worker
from otel_watchdog.transport.feedback_api import MAX_BACKOFF_SECONDS, FeedbackApi, Stream

CLOSE_SECONDS: Final = 2.0
MIN_BACKOFF_SECONDS: Final = 0.5
MAX_ACKS: Final = 256
"""Acknowledgements that wait for the service."""
MAX_ACKS_AT_ONCE: Final = 64
MAX_KNOWN: Final = 1024
"""Corrections from the service that are remembered until they are acknowledged."""


class HttpStream:
    """Listens to a fleet service for each session that runs, and fills the mailbox from there.

    A stream of server-sent events a session, from its run's start to its end, each on a thread of
    its own; a stream that breaks is taken up where it ended, later each time and never for all
    agents at once. What adapters lease and acknowledge is told to the service. With the service
    gone or slow, nothing changes for the agent but that no corrections come.

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

    Raises:
        ConfigError: A value is wrong.
    """

    name: ClassVar[str] = "http_stream"

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        max_sessions: int = 32,
        silence_seconds: float = 60.0,
        min_backoff_seconds: float = MIN_BACKOFF_SECONDS,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if max_sessions < 1:
            raise ConfigError(f"{self.name}.max_sessions must be at least 1, got {max_sessions!r}")
        if not (silence_seconds > 0 and 0 < min_backoff_seconds <= MAX_BACKOFF_SECONDS):
            raise ConfigError(
                f"{self.name}.silence_seconds must be above 0 and .min_backoff_seconds above 0 "
                f"and at most {MAX_BACKOFF_SECONDS}, got {silence_seconds!r}, "
                f"{min_backoff_seconds!r}"
            )
        self._api = FeedbackApi(url, token=token, setting=f"{self.name}.url")
        self._max_sessions = max_sessions
        self._silence_seconds = silence_seconds
        self._min_backoff_seconds = min_backoff_seconds
        self._jitter = jitter
        self._mailbox: Mailbox | None = None
        self._streams: OrderedDict[str, Stream] = OrderedDict()
        self._runs: dict[str, set[str]] = {}
        self._known: OrderedDict[str, str] = OrderedDict()
        """Sessions by the id of a correction that came from the service."""
        self._acks: deque[tuple[str, str, str]] = deque(maxlen=MAX_ACKS)
        self._lock = Lock()
        self._closed = False
        self._poster = Worker(self._post, name=f"watchdog-{self.name}-acks", on_fork=self._renew)
        self._ack_failures = 0
        self._dropped = 0

    @property
    def dropped(self) -> int:
        """Acknowledgements that were given up: the service took none, and too many waited."""
        return self._dropped

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
                stream = None if runs else self._streams.pop(observation.session, None)
            if stream is not None:
                stream.close(0)

    def send(self, correction: Correction) -> None:
        """See `Channel.send`: the mailbox has it already."""

    def close(self) -> None:
        """See `Channel.close`; waits two seconds at most."""
        with self._lock:
            self._closed = True
            streams = list(self._streams.values())
            self._streams.clear()
            self._runs.clear()
        for stream in streams:
            stream.close(0)
        for stream in streams:
            stream.close(CLOSE_SECONDS / 2 / len(streams))
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
            stream = self._streams[session] = Stream(
                self._api,
                session,
                self._take,
                silence_seconds=self._silence_seconds,
                backoff=self._backoff,
            )
            if len(self._streams) > self._max_sessions:
                name, oldest = self._streams.popitem(last=False)
                self._runs.pop(name, None)
        stream.open()
        if oldest is not None:
            oldest.close(0)

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

    def _backoff(self, failures: int) -> float:
        longest = min(MAX_BACKOFF_SECONDS, self._min_backoff_seconds * 2.0 ** min(failures - 1, 16))
        return longest * (0.5 + self._jitter() / 2)

    def _renew(self) -> None:
        """Begin with nothing in hand in a forked child: its parent goes on listening."""
        self._lock = Lock()
        self._streams = OrderedDict()
        self._runs = {}
        self._acks = deque(maxlen=MAX_ACKS)
