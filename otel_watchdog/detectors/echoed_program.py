"""Finds programs that print nothing but what stood in their own text."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import UNKNOWN, Exchange
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened


class EchoedProgram:
    """Fires when `threshold` programs in a row printed only their own words.

    It is an agent that writes down what it wants to know, or a request to somebody else, and prints
    it instead of asking. A program that prints something of its own clears it; a final answer that
    is printed is none.

    Severity is warn: what a program knows already may be what is wanted.

    Known false positive: tables that are typed in and printed to be looked at.

    Threshold: 3 finds two stuck real runs that nothing else finds; 4 loses them.

    Args:
        threshold: Programs in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_batch", "_era", "_lengths", "_threshold")

    name: ClassVar[str] = "echoed_program"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(self, *, threshold: int = 3) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._lengths: dict[str, int] = {}
        self._era = 0
        self._batch = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None:
            return None
        tool = exchange.tool
        if exchange.era != self._era:
            self._era = exchange.era
            self._lengths.clear()
        if not exchange.is_echo:
            if exchange.outcome is not UNKNOWN:
                self._lengths.pop(tool, None)
            return None
        if exchange.batch == self._batch:
            return None
        self._batch = exchange.batch
        length = self._lengths[tool] = self._lengths.get(tool, 0) + 1
        return self._finding(exchange, length) if length == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._lengths.clear()

    def _finding(self, exchange: Exchange, times: int) -> Finding:
        tool = shortened(exchange.tool)
        return Finding(
            detector=self.name,
            kind=Kind.REPHRASE,
            severity=Severity.WARN,
            reason=f"{times} programs in a row, run by {tool}, printed only their own text",
            guidance=(
                f"Your last {times} programs only printed what you had written into them: nobody "
                "reads it, and nothing new comes back. Call the tool or the helper that can "
                "answer, or hand over what you know."
            ),
            evidence={"tool": tool, "count": times},
        )
