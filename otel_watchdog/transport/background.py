"""One daemon thread a channel: there while there is work, alive after a fork, ended in time."""

import logging
import os
import threading
import weakref
from collections.abc import Callable
from typing import Final

RETRY_SECONDS: Final = 1.0
"""What is waited after work that raised."""

_logger = logging.getLogger(__name__)


class Worker:
    """Calls `work` on a thread of its own, whenever woken and as often as it asks for.

    The thread ends where there is nothing to do, and comes back when woken; it never keeps a
    process alive. What `work` raises is logged once, and `work` is called again a little later.

    Args:
        work: Does what is due; returns the seconds until more is, `None`: when woken.
        name: The thread's name.
        on_fork: Called in a forked child, where no thread but its own is left.
    """

    def __init__(
        self,
        work: Callable[[], float | None],
        *,
        name: str,
        on_fork: Callable[[], None] | None = None,
    ) -> None:
        self._work = work
        self._name = name
        self._on_fork = on_fork
        self._closing = False
        self._has_failed = False
        self._renew()
        _workers.add(self)

    @property
    def is_closing(self) -> bool:
        """Whether the work in hand is the last."""
        return self._closing

    def wake(self) -> None:
        """Have `work` called soon; returns at once."""
        with self._lock:
            self._woken.set()
            if self._thread is None and not self._closing:
                self._start()

    def close(self, timeout_seconds: float) -> bool:
        """Have `work` called a last time, if it is at work; say whether it has come to its end.

        Args:
            timeout_seconds: How long to wait for it.
        """
        with self._lock:
            self._closing = True
            self._woken.set()
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout_seconds)
        return not thread.is_alive()

    def renew_after_fork(self) -> None:
        """Begin anew in a forked child: the thread and the locks' holders stayed behind."""
        self._renew()
        if self._on_fork is not None:
            self._on_fork()

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread = thread
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending, or there are no more threads
            self._thread = None

    def _run(self) -> None:
        while True:
            self._woken.clear()
            seconds = self._try()
            if self._closing:
                return
            if seconds is None:
                with self._lock:
                    if not self._woken.is_set():
                        self._thread = None
                        return
            else:
                self._woken.wait(seconds)

    def _try(self) -> float | None:
        try:
            return self._work()
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                _logger.exception("%s failed; it is tried again", self._name)
            return RETRY_SECONDS


_workers: "weakref.WeakSet[Worker]" = weakref.WeakSet()


def _renew_all() -> None:
    for worker in list(_workers):
        worker.renew_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
