"""A progress bar over a file that is read, for people who look on."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

_MIN_BAR_BYTES: Final = 1_000_000
"""Files below it are read before a bar could be seen."""


class Bar:
    """A progress bar that steps aside while something else is shown."""

    def __init__(self, progress: Progress | None, total: int | None) -> None:
        self._progress = progress
        self._task = progress.add_task("reading", total=total) if progress else None

    def advance(self, size: int) -> None:
        """Note that so many bytes more were read."""
        if self._progress is not None and self._task is not None:
            if not self._progress.live.is_started:
                self._progress.start()
            self._progress.advance(self._task, size)

    def pause(self) -> None:
        """Step aside."""
        if self._progress is not None and self._progress.live.is_started:
            self._progress.stop()


@contextmanager
def reading(file: str) -> Iterator[Bar]:
    """Show how far a file was read, if a person looks on."""
    size = _size(file)
    small = size is not None and size < _MIN_BAR_BYTES
    if small or not sys.stderr.isatty():
        yield Bar(None, None)
        return
    progress = Progress(
        TextColumn("reading"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    bar = Bar(progress, size)
    try:
        yield bar
    finally:
        bar.pause()


def _size(file: str) -> int | None:
    """Return a file's size in bytes; `None` if it is not known."""
    if file == "-":
        return None
    try:
        return Path(file).stat().st_size or None
    except (OSError, ValueError):
        return 0
