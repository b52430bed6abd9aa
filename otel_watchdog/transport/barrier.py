"""Waits, no longer than it may, until a service has judged an agent's last span."""

import contextlib
import logging
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from otel_watchdog.clock import Clock, system_clock
from otel_watchdog.errors import InputError
from otel_watchdog.model import Correction
from otel_watchdog.transport import event_stream
from otel_watchdog.transport.background import Worker
from otel_watchdog.transport.feedback_api import FAILURES, FeedbackApi

SERVICE_SHARE: Final = 0.8
"""Of the time that is left: what the service may wait; the rest is for its answer to arrive."""

MAX_WAITING: Final = 16
"""Threads that wait in one session."""

_logger = logging.getLogger(__name__)


class _Question:
    __slots__ = ("after", "answered", "deadline", "is_judged")

    def __init__(self, after: str, deadline: float) -> None:
        self.after = after
        self.deadline = deadline
        self.answered = threading.Event()
        self.is_judged: bool | None = None
        """`None`: there was no answer."""


class Barrier:
    """Has one session's agent wait for the service, for so long and no longer.

    At a turn's start it waits until its last span was judged; where it takes corrections, until
    the service was told, so that it judges in the order in which things happened.

    It asks and sends on threads of its own: whatever a name server, the service or an exporter
    does, who waits is not held back beyond that.

    Args:
        api: The service.
        session: Whose spans.
        take: Called with each correction that an answer holds.
        tell: Has the service told of what was leased and claimed; may block.
        seconds: What a turn's start may wait in all, and what a claim may.
        clock: Tells the time.
    """

    def __init__(
        self,
        api: FeedbackApi,
        session: str,
        take: Callable[[Correction], None],
        *,
        tell: Callable[[], None],
        seconds: float,
        clock: Clock = system_clock,
    ) -> None:
        self._is_up = True
        """Whether the service is thought to answer: from a failure on it must be heard of first."""
        self._api = api
        self._session = session
        self._take = take
        self._tell = tell
        self._seconds = seconds
        self._clock = clock
        self._last: deque[str] = deque(maxlen=1)
        """The last span, until it was asked for."""
        self._flush: Callable[[int], object] | None = None
        self._start_by = 0.0
        """When the wait of a turn's start ends."""
        self._claim_by: float | None = None
        """When that of its claims ends; `None`: none was made."""
        self._untold: deque[threading.Event] = deque(maxlen=MAX_WAITING)
        """Set once the service was told."""
        self._has_failed = False
        self._questions: deque[_Question] = deque(maxlen=MAX_WAITING)
        self._socket: socket.socket | None = None
        """Of the question that is asked."""
        self._asker = Worker(self._ask, name="watchdog-http_stream-barrier")
        self._sender = Worker(self._send, name="watchdog-http_stream-flush")

    def note(self, after: str, flush: Callable[[int], object]) -> None:
        """Keep the session's last span in mind.

        Args:
            after: Its name for the service.
            flush: Has it sent; takes the milliseconds that this may last; may block longer.
        """
        self._flush = flush
        self._last.append(after)

    def wait(self) -> bool:
        """Wait until the service has judged the last span, each span once.

        Returns:
            Whether it has; false, too, where it did not say so in time.
        """
        try:
            after = self._last.pop()
        except IndexError:
            return True
        if not self._is_up:
            return False
        self._start_by = self._clock() + self._seconds
        self._claim_by = None
        question = _Question(after, self._start_by)
        self._questions.append(question)
        self._asker.wake()
        self._sender.wake()
        question.answered.wait(self._seconds)
        if question.is_judged is None:
            self._is_up = False
            self._cut()
        return bool(question.is_judged)

    def settle(self, *, is_claim: bool) -> None:
        """Wait until the service was told, after the spans that ended before.

        Args:
            is_claim: Whether of a claim: all of a turn share one wait. Else the wait is that of
                the turn's start.
        """
        now, by = self._clock(), self._start_by
        if is_claim:
            by = self._claim_by = self._claim_by or now + self._seconds
        left = by - now
        if self._is_up and left > 0:
            told = threading.Event()
            self._untold.append(told)
            self._sender.wake()
            told.wait(left)

    def resume(self) -> None:
        """Wait again: there is a sign of the service."""
        self._is_up = not self._asker.is_closing

    def suspend(self) -> None:
        """Wait no more, until `resume`: the service is gone."""
        self._is_up = False

    def close(self) -> None:
        """Ask nothing more; returns at once."""
        self._asker.close(0)
        self._sender.close(0)
        self._is_up = False
        self._cut()

    def _ask(self) -> None:
        while self._questions:
            question = self._questions.popleft()
            left = question.deadline - self._clock()
            if left <= 0:
                continue
            try:
                question.is_judged = self._answer(question, left)
            except FAILURES as error:
                _logger.debug("%s did not answer: %s", self._api, error)
            finally:
                self._socket = None
                question.answered.set()

    def _answer(self, question: _Question, left: float) -> bool:
        def hold(open_socket: socket.socket) -> None:
            self._socket = open_socket
            if self._clock() >= question.deadline or self._asker.is_closing:
                raise ConnectionAbortedError("nobody waits any more")

        is_judged, found = self._api.judged(
            self._session,
            question.after,
            wait_ms=left * 1000 * SERVICE_SHARE,
            timeout_seconds=left,
            on_open=hold,
        )
        for one in found:
            try:
                self._take(event_stream.as_correction(one, session=self._session))
            except InputError as error:
                _logger.debug("%s: %s", self._api, error)
        return is_judged

    def _cut(self) -> None:
        """Read no more of an answer that nobody waits for: it may have no end."""
        open_socket = self._socket
        if open_socket is not None:
            with contextlib.suppress(OSError):  # it is closed already
                open_socket.shutdown(socket.SHUT_RDWR)

    def _send(self) -> None:
        """Have spans sent, then acknowledgements: what was claimed, was so after these spans."""
        untold = [self._untold.popleft() for _ in range(len(self._untold))]
        self._flush_spans()
        self._tell()
        for told in untold:
            told.set()

    def _flush_spans(self) -> None:
        flush = self._flush
        try:
            if flush is not None:
                flush(max(1, int(self._seconds * 1000)))
        except Exception as error:  # exporters may raise anything
            if not self._has_failed:
                self._has_failed = True
                _logger.warning("spans could not be sent for the barrier", exc_info=error)
