"""Finds tool calls that fail, one after the other."""

from typing import ClassVar, Final

from otel_watchdog.evidence.exchanges import EMPTY, ERROR, REFUSED, SERVER, UNKNOWN, Exchange
from otel_watchdog.evidence.likeness import is_sweep
from otel_watchdog.evidence.recent import add
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import (
    Finding,
    Kind,
    Observation,
    Severity,
    ToolResult,
)
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MAX_KEPT = 12

_UNKNOWN: Final = UNKNOWN
_FAILED: Final = (ERROR, REFUSED)


class ToolFailureStreak:
    """Fires when `threshold` tool calls in a row return errors or are refused, whatever the tool.

    One call that works clears it, also one that finds nothing. A result of which the trace does
    not say how it ended neither counts nor clears. It fires once a streak. Equal calls that fail
    are `repeated_tool_call`'s too.

    With `by_evidence`, results that tell of an error count although the trace says that all went
    well, and a batch counts once. Going through a list by id, host or role is no streak; thinking,
    waiting and a server that is overloaded neither count nor clear.

    Severity is warn: failing probes can be the job. With `critical_threshold`, it is critical from
    that many on.

    Known false positive: permission testing, which collects denials by design.

    Thresholds: 3 is the published rule and takes 12 of 104 healthy real runs for stuck by its
    errors of any kind; 5 takes none and finds 38 of 92 stuck ones, 4 takes two.

    Rule: go-steer/core-agent, `tool-failure-streak`; options out of bounds, which are refused
    here, are clamped there.

    >>> detector, progress = ToolFailureStreak(threshold=2), Progress()
    >>> for tool in ("read", "write"):
    ...     result = ToolResult("s", 1, tool, ERROR, error="disk full")
    ...     progress.observe(result)
    ...     finding = detector.observe(result, progress)
    >>> finding.reason
    '2 tool calls in a row failed (read, write), the last with: disk full'

    Args:
        threshold: Errors in a row that fire, at least 2.
        critical_threshold: Errors in a row that are critical; `None`: it never is.
        by_evidence: Whether results are read, rather than what the trace says of them alone.
        empty_clears: Whether a call that found nothing counts as one that works.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = (
        "_batch",
        "_by_evidence",
        "_critical_threshold",
        "_empty_clears",
        "_failed",
        "_length",
        "_threshold",
        "_tools",
    )

    name: ClassVar[str] = "tool_failure_streak"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("outcomes",)

    def __init__(
        self,
        *,
        threshold: int = 3,
        critical_threshold: int | None = None,
        by_evidence: bool = False,
        empty_clears: bool = True,
    ) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        self._threshold = threshold
        self._critical_threshold = critical_threshold
        self._by_evidence = by_evidence
        self._empty_clears = empty_clears
        self._batch = 0
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        result = progress.result
        outcome, error = result.outcome, result.error
        if self._by_evidence:
            exchange = progress.exchange
            if exchange is None or self._is_passed(exchange):
                return None
            outcome, error = exchange.outcome, exchange.error or error
            if outcome in _FAILED:
                add(self._failed, exchange, MAX_KEPT)
        if outcome in _FAILED:
            return self._count(result.name, error)
        if outcome is EMPTY and not self._empty_clears:
            return None
        if self._length and outcome is not _UNKNOWN:
            self.restart()
        return None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._length = 0
        self._tools: list[str] = []
        self._failed: list[Exchange] = []

    def _is_passed(self, exchange: Exchange) -> bool:
        """Say whether a call neither counts nor clears."""
        if exchange.is_idle or exchange.trouble is SERVER:
            return True
        failed = exchange.outcome in _FAILED
        if failed and exchange.batch == self._batch:
            return True
        self._batch = exchange.batch if failed else 0
        return False

    def _count(self, name: str, error: str | None) -> Finding | None:
        self._length += 1
        if self._length > max(self._threshold, self._critical_threshold or 0):
            return None
        tool = name or "unnamed tool"
        if tool not in self._tools:
            self._tools.append(tool)
        if self._failed and is_sweep(self._failed):
            return None
        if self._length == self._critical_threshold:
            return self._finding(error, Severity.CRITICAL)
        return self._finding(error, Severity.WARN) if self._length == self._threshold else None

    def _finding(self, said: str | None, severity: Severity) -> Finding:
        tools = shortened(", ".join(self._tools))
        error = shortened(" ".join((said or "").split())) or "an error without a text"
        return Finding(
            detector=self.name,
            kind=Kind.FAILURE_STREAK,
            severity=severity,
            reason=f"{self._length} tool calls in a row failed ({tools}), the last with: {error}",
            guidance=(
                f"Your last {self._length} tool calls failed ({tools}), and none worked in "
                f"between. The last one said: {error}. Do not try again before you have removed "
                "the cause; if you cannot, take a way that does not need it."
            ),
            evidence={"tools": tools, "error": error, "count": self._length},
        )
