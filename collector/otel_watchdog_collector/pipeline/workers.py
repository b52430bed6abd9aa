"""Worker processes as who serves sees them: asked in order, and started anew when they end."""

import asyncio
import logging
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Final

from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.pipeline.desk import Verdict
from otel_watchdog_collector.pipeline.parts import Frame, Kept, Part

if TYPE_CHECKING:
    from otel_watchdog_collector.facts import Letter, Row

MAX_ATTEMPTS: Final = 3
"""Times that a worker may end over one part; then that is judged by nobody."""

FIRST_PAUSE_SECONDS: Final = 0.2
"""Seconds before a worker that could not be started is tried again; doubled each time."""

MAX_PAUSE_SECONDS: Final = 5.0

STOP_SECONDS: Final = 5.0

_GONE: Final = (EOFError, OSError)

_logger = logging.getLogger(__name__)


class WorkerProcess:
    """One worker; it has a thread of its own, which waits for its answers.

    What it was asked since the last snapshot is remembered, so that another can take its place:
    that begins with the snapshot and does the same again.

    Args:
        config: Settings.
        number: Its own, from 0.
        of: How many there are.
        kept: Returns what the last snapshot holds.
    """

    def __init__(
        self, config: CollectorConfig, number: int, of: int, kept: Callable[[], Kept]
    ) -> None:
        self.number = number
        self._about = (config, number, of)
        self._kept = kept
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"otel-watchdog-worker-{number}")
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._done: list[Part] = []
        """Parts since the last snapshot."""
        self._closing = threading.Event()

    @property
    def pid(self) -> int | None:
        """The process's id, while there is one."""
        return self._process.pid if self._process is not None else None

    def judge(self, part: Part) -> "asyncio.Future[Verdict]":
        """Have a part judged, after all that was asked before."""
        return self._later(lambda: self._judge(part))

    def load(self) -> "asyncio.Future[dict[str, list[Letter]]]":
        """Have the snapshot read; return the letters that wait, by tenant."""
        return self._later(lambda: self._ask("letters"))

    def rows(self) -> "asyncio.Future[list[Row]]":
        """Return the rows that changed."""
        return self._later(lambda: self._ask("rows"))

    def freeze(self) -> "asyncio.Future[tuple[list[Frame], int]]":
        """Return its state, and how many parts it was asked of until then."""
        return self._later(lambda: (self._ask("freeze"), len(self._done)))

    def note_saved(self, parts: int) -> None:
        """Note that a snapshot holds what it knew after so many parts."""
        del self._done[:parts]

    def close(self) -> None:
        """Let it end."""
        self._closing.set()
        self._thread.shutdown()
        self._end()

    def _later(self, work: Callable[[], Any]) -> "asyncio.Future[Any]":
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _judge(self, part: Part) -> Verdict:
        for _ in range(MAX_ATTEMPTS):
            try:
                verdict: Verdict = self._exchange("judge", part)
            except _GONE:
                self._note_end()
                continue
            self._done.append(part)
            return verdict
        _logger.error("an entry of kind %s is left out: it ends workers", part.entry.kind.value)
        return Verdict(counts=(("internal_errors_total", 1),))

    def _ask(self, name: str) -> Any:
        """Ask what may be asked again."""
        while True:
            try:
                return self._exchange(name)
            except _GONE:
                self._note_end()
                if self._closing.is_set():
                    raise

    def _exchange(self, name: str, *given: Any) -> Any:
        return _exchange(self._pipe or self._begin(), name, *given)

    def _begin(self) -> Connection:
        """Start the process, however often that takes."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return self._start_as_before()
            except _GONE:
                self._note_end()
                if self._closing.wait(pause):
                    raise
                pause = min(pause * 2, MAX_PAUSE_SECONDS)

    def _start_as_before(self) -> Connection:
        """Start a process, and have it know what the one before did."""
        self._pipe = pipe = self._start()
        _exchange(pipe, "load", self._kept())
        _exchange(pipe, "letters")  # from here on it tells of changes
        for part in self._done:
            _exchange(pipe, "judge", part)
        return pipe

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                [
                    *(sys.executable, "-P", "-m", "otel_watchdog_collector.pipeline.worker"),
                    str(theirs.fileno()),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p or "." for p in sys.path)},
            )
            pipe = Connection(ours.detach())
        pipe.send(self._about)
        pipe.recv()
        return pipe

    def _note_end(self) -> None:
        _logger.error("worker %d has ended; another takes its place", self.number)
        self._end()

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._process is not None:
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def _exchange(pipe: Connection, name: str, *given: Any) -> Any:
    pipe.send_bytes(pickle.dumps((name, given), protocol=5))
    return pickle.loads(pipe.recv_bytes())  # noqa: S301 - of a process of our own
