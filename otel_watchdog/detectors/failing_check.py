"""Finds a check that keeps failing in the same way, whatever is changed in between."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import ERROR, SERVER, WRITE, Exchange
from otel_watchdog.evidence.tallies import Tally, check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened


class FailingCheck:
    """Fires when the same call has failed with the same result `threshold` times, across changes.

    It is the test that is run after each edit and tells the same each time: the edits miss. Fewer
    failures than ever before clear it, another error is another count, and so does the user.

    Severity is warn, and critical from `critical_threshold` on.

    Known false positive: a long migration whose check says nothing but "failed" until its end.

    Thresholds: 4 finds 28 of 92 stuck real runs and no other, 3 finds 33; 3 is common while one
    looks for the right place.

    Args:
        threshold: Equal failures that fire, at least 2.
        critical_threshold: Equal failures that are critical.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_critical_threshold", "_tally", "_threshold")

    name: ClassVar[str] = "failing_check"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(self, *, threshold: int = 4, critical_threshold: int = 6) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        self._threshold = threshold
        self._critical_threshold = critical_threshold
        self._tally = Tally()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None:
            return None
        if exchange.is_novel and exchange.low is not None:
            self._tally.clear()
        if exchange.outcome is not ERROR or not exchange.is_known:
            return None
        if exchange.effect is WRITE or exchange.trouble is SERVER:
            return None
        count = self._tally.add((exchange.identity, exchange.digest), exchange, exchange.era)
        severity = count.due(self._threshold, self._critical_threshold)
        return None if severity is None else self._finding(exchange, count.total, severity)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._tally.restart()

    def _finding(self, exchange: Exchange, times: int, severity: Severity) -> Finding:
        tool = shortened(exchange.tool)
        arguments = shortened(exchange.key.partition("\0")[2])
        error = shortened(exchange.error or "")
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=severity,
            reason=f"{tool} failed {times} times in the same way with {arguments}: {error}",
            guidance=(
                f"{tool} with {arguments} has failed {times} times with the same result "
                f"({error}), also after your changes: they do not touch the cause. Before the next "
                "change, say which part of the program makes this message, and look there."
            ),
            evidence={"tool": tool, "arguments": arguments, "error": error, "count": times},
        )
