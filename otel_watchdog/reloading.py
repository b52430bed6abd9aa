"""Reads the file of settings again while the watchdog runs; a bad one changes nothing."""

import logging
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from otel_watchdog.config import WatchdogConfig

_logger = logging.getLogger(__name__)


class Reloader:
    """Applies the file again where it has changed, at the start of a run, or was asked to.

    With `reload_on_signal`, SIGHUP asks; the handler that was there before is called, too. It is
    installed from the main thread alone, and does no more than take a note.

    Args:
        config: The settings that hold; without a file there is nothing to do.
        apply: Called with new settings; what it refuses is logged, and the old ones hold.
    """

    def __init__(self, config: WatchdogConfig, apply: Callable[[WatchdogConfig], None]) -> None:
        self._config = config
        self._apply = apply
        self.is_due = False
        """Whether the file is to be read at the next chance."""
        self._state = _state(config.file)
        self._before: Any = None
        self._has_signal = False
        if config.reload_on_signal and config.file is not None:
            self._listen()

    def start_run(self) -> None:
        """Read the file, if it has changed since it was read."""
        file = self._config.file
        if file is None or (not self.is_due and _state(file) == self._state):
            return
        self.is_due = False
        self._state = _state(file)
        try:
            config = self._config.reloaded()
            self._apply(config)
        except Exception as error:  # noqa: BLE001 - a plug-in that is made anew may raise anything
            _logger.error("the settings were not read again, the old ones hold: %s", error)  # noqa: TRY400 - the message says it all
            return
        self._config = config
        _logger.info("the settings were read again from %s", file)

    def close(self) -> None:
        """Give the signal back; safe to call twice."""
        if self._has_signal and threading.current_thread() is threading.main_thread():
            self._has_signal = False
            if signal.getsignal(signal.SIGHUP) == self._note:
                signal.signal(signal.SIGHUP, self._before)

    def _listen(self) -> None:
        if not hasattr(signal, "SIGHUP"):
            _logger.warning("reload_on_signal: this system has no SIGHUP")
            return
        if threading.current_thread() is not threading.main_thread():
            _logger.warning("reload_on_signal: not in the main thread, SIGHUP is left alone")
            return
        self._before = signal.getsignal(signal.SIGHUP) or signal.SIG_DFL
        signal.signal(signal.SIGHUP, self._note)
        self._has_signal = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.is_due = True
        if callable(self._before):
            self._before(number, frame)


def _state(file: Path | None) -> tuple[int, int] | None:
    """Return what changes with a file; `None` where there is none."""
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
