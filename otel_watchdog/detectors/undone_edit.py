"""Finds edits that undo each other, over and over."""

from typing import Any, ClassVar

from otel_watchdog.evidence.exchanges import ERROR, WRITE, Exchange
from otel_watchdog.evidence.tallies import Tally, check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

PATHS = ("path", "file", "file_path", "filename", "filepath", "target_file")
OLD = ("old", "old_text", "old_string", "old_str", "search", "find", "before")
NEW = ("new", "new_text", "new_string", "new_str", "replace", "replacement", "after")

MAX_EDITS = 64


class UndoneEdit:
    """Fires when `threshold` edits of one file took back an edit made before.

    An edit has a direction: A to B takes back B to A in the same file. One revert is work, and so
    are edits that follow each other, A to B to C; another file is another count.

    Severity is warn, and critical from `critical_threshold` on.

    Known false positive: switching a flag on and off on purpose to compare both.

    Thresholds: 2, because once is how one undoes a mistake; 1 to 3 find the same runs.

    Args:
        threshold: Reversals that fire, at least 2.
        critical_threshold: Reversals that are critical.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_critical_threshold", "_edits", "_tally", "_threshold")

    name: ClassVar[str] = "undone_edit"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(self, *, threshold: int = 2, critical_threshold: int = 4) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        self._threshold = threshold
        self._critical_threshold = critical_threshold
        self._edits: dict[tuple[str, str, str], None] = {}
        self._tally = Tally(max_keys=16)

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or exchange.effect is not WRITE or exchange.arguments is None:
            return None
        if exchange.outcome is ERROR:
            return None
        values = exchange.arguments
        path, old, new = (_first(values, names) for names in (PATHS, OLD, NEW))
        if path is None or old is None or new is None or old == new:
            return None
        undone = (path, new, old) in self._edits
        if len(self._edits) >= MAX_EDITS:
            del self._edits[next(iter(self._edits))]
        self._edits[path, old, new] = None
        if not undone:
            return None
        count = self._tally.add(path, exchange, exchange.era)
        severity = count.due(self._threshold, self._critical_threshold)
        if severity is Severity.CRITICAL and exchange.digest is None:
            severity = Severity.WARN
        return None if severity is None else self._finding(exchange, path, count.total, severity)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._tally.restart()

    def _finding(self, exchange: Exchange, path: str, times: int, severity: Severity) -> Finding:
        tool, file = shortened(exchange.tool), shortened(path)
        return Finding(
            detector=self.name,
            kind=Kind.CYCLE,
            severity=severity,
            reason=f"{times} edits of {file} took back an edit made before",
            guidance=(
                f"{times} of your edits of {file} took back what you had changed before; you go "
                "to and fro between two versions. Decide by what the checks say which one it is "
                "to be, keep it, and look for the cause elsewhere."
            ),
            evidence={"tool": tool, "file": file, "count": times},
        )


def _first(values: Any, names: tuple[str, ...]) -> str | None:
    for name in names:
        if name in values:
            return str(values[name])
    return None
