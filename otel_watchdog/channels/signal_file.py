"""Carries corrections to an agent in another process, by a file that it reads at a turn's start."""

import logging
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import ClassVar, Final

from otel_watchdog.channels.base import Listener
from otel_watchdog.config import is_paused
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Correction, Mode
from otel_watchdog.transport import signal_files
from otel_watchdog.transport.background import Worker
from otel_watchdog.transport.signal_files import Signal

CLOSE_SECONDS: Final = 2.0
MAX_KNOWN: Final = 64
"""Ids of a session's corrections that are remembered, so that none is written twice."""

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Line:
    """The corrections of one session, oldest first."""

    folder: Path
    waiting: deque[Correction] = field(default_factory=deque)
    written: Correction | None = None
    """Stands in the file, as far as is known."""
    known: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_KNOWN))


class SignalFile:
    """Writes `correction.signal` into a folder a session; one at a time, four wait at most.

    `otel-watchdog signal claim`, or a reader of yours, moves the file away, reads and deletes it;
    see `otel_watchdog.transport.signal_files`. A correction counts as claimed once its file is
    gone. The next one waits until then; where too many wait, the oldest is taken back. All files
    are written and looked for by a thread of its own. While `OTEL_WATCHDOG_PAUSE` is set, what was
    not read is taken back.

    A correction that was not read when the watchdog closes stays for who reads next.

    Args:
        folder: Where the sessions' folders are; made where it is missing, for its owner only.
        one_agent: The file stands in `folder` itself, whatever the session: there is one agent.
        max_waiting: Corrections that wait in one session, at least 1.
        max_sessions: Sessions that are kept in mind, at least 1.
        poll_seconds: How often it is looked whether a file was taken, while one is there.

    Raises:
        ConfigError: A value is out of its bounds, or everybody may write into the folder.
    """

    name: ClassVar[str] = "signal_file"

    def __init__(
        self,
        folder: Path | str,
        *,
        one_agent: bool = False,
        max_waiting: int = 4,
        max_sessions: int = 1024,
        poll_seconds: float = 0.2,
    ) -> None:
        if min(max_waiting, max_sessions) < 1:
            raise ConfigError(
                f"{self.name}.max_waiting and .max_sessions must be at least 1, "
                f"got {max_waiting!r}, {max_sessions!r}"
            )
        if not poll_seconds > 0:
            raise ConfigError(f"{self.name}.poll_seconds must be above 0, got {poll_seconds!r}")
        self._folder = Path(folder).absolute()
        signal_files.check(self._folder)
        self._one_agent = one_agent
        self._max_waiting = max_waiting
        self._max_sessions = max_sessions
        self._poll_seconds = poll_seconds
        self._lines: OrderedDict[str, _Line] = OrderedDict()
        self._lock = Lock()
        self._listeners: list[tuple[Listener, Listener]] = []
        self._dropped = 0
        self._worker = Worker(self._work, name=f"watchdog-{self.name}", on_fork=self._renew)

    @property
    def dropped(self) -> int:
        """Corrections that were given up unread: too many waited, or in too many sessions."""
        return self._dropped

    def listen(self, *, on_lease: Listener, on_claim: Listener) -> None:
        """See `Claimed.listen`: a file that is gone was leased and acknowledged at once."""
        self._listeners.append((on_lease, on_claim))

    def send(self, correction: Correction) -> None:
        """See `Channel.send`."""
        key = "" if self._one_agent else correction.session
        with self._lock:
            line = self._lines.get(key) or self._begin(key)
            self._lines.move_to_end(key)
            if correction.id in line.known:
                return
            line.known.append(correction.id)
            line.waiting.append(correction)
            while len(line.waiting) > self._max_waiting:
                line.waiting.popleft()
                self._dropped += 1
        self._worker.wake()

    def close(self) -> None:
        """See `Channel.close`; waits two seconds at most."""
        self._worker.close(CLOSE_SECONDS)
        with self._lock:
            self._lines.clear()

    def _begin(self, key: str) -> _Line:
        folder = signal_files.folder_of(self._folder, None if self._one_agent else key)
        line = self._lines[key] = _Line(folder)
        if len(self._lines) > self._max_sessions:
            _, gone = self._lines.popitem(last=False)
            self._dropped += len(gone.waiting)
        return line

    def _work(self) -> float | None:
        """Move every session on as far as it goes; more is due while something is under way."""
        with self._lock:
            lines = list(self._lines.values())
        busy = False
        for line in lines:
            try:
                busy |= self._advance(line)
            except OSError as error:
                busy = True
                _logger.warning("a correction could not be handed over: %s", error)
        return self._poll_seconds if busy else None

    def _advance(self, line: _Line) -> bool:
        """Note that a file was taken, make room, write the next; say whether more is to come."""
        if line.written is not None and not signal_files.is_unread(line.folder):
            self._note_claimed(line)
        if line.written is not None and (is_paused() or len(line.waiting) >= self._max_waiting):
            self._take_back(line)
        if line.written is None and line.waiting and not is_paused():
            self._write_next(line)
        return line.written is not None or bool(line.waiting)

    def _write_next(self, line: _Line) -> None:
        with self._lock:
            first = line.waiting.popleft()
        is_there = False
        try:
            is_there = signal_files.put(line.folder, _signal(first))
        finally:
            if is_there:
                line.written = first
            else:
                self._put_back(line, first)

    def _take_back(self, line: _Line) -> None:
        if line.written is None:
            return
        if not signal_files.withdraw(line.folder):
            self._note_claimed(line)
            return
        self._put_back(line, line.written)
        line.written = None

    def _put_back(self, line: _Line, correction: Correction) -> None:
        """Have a correction wait again, first in line, if there is room for the oldest."""
        with self._lock:
            if len(line.waiting) < self._max_waiting:
                line.waiting.appendleft(correction)
            else:
                self._dropped += 1

    def _note_claimed(self, line: _Line) -> None:
        correction, line.written = line.written, None
        if correction is None:
            return
        for on_lease, on_claim in self._listeners:
            on_lease(correction)
            on_claim(correction)

    def _renew(self) -> None:
        """Begin with nothing in hand in a forked child: its parent goes on with what waits."""
        self._lock = Lock()
        self._lines = OrderedDict()


def _signal(correction: Correction) -> Signal:
    binds = correction.mode is Mode.ENFORCE
    return Signal(
        correction=signal_files.clean(correction.message),
        max_turns_override=correction.max_turns if binds else None,
        id=correction.id,
        tier=correction.tier.label,
        turn=correction.turn or None,
    )
