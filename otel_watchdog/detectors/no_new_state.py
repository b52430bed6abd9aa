"""Finds results that bring back only what the run has already seen."""

from collections.abc import Collection
from typing import ClassVar, Final

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import (
    Finding,
    Kind,
    Observation,
    RunStarted,
    Severity,
    ToolOutcome,
    ToolResult,
)
from otel_watchdog.progress import Progress

MIN_THRESHOLD = 3

_ERROR: Final = ToolOutcome.ERROR
_REFUSED: Final = ToolOutcome.REFUSED
_UNKNOWN: Final = ToolOutcome.UNKNOWN


class NoNewState:
    """Fires when `threshold` results in a row were all seen before in this run, whatever the tool.

    The first sight of a result is new and ends the streak, so seven equal results fire at six.
    A result that is empty or was not captured ends it too. Failed calls, declared no-ops and
    waiting tools neither count nor clear: `tool_failure_streak` and `no_op_streak` see to those.
    A new run forgets everything. It fires once a streak.

    Severity is warn: reading something again can be the work.

    Known false positive: polling with another tool than one of `exempt_tools`, and tools that
    answer "ok" to everything.

    Rule: go-steer/core-agent, `no-new-state`; options out of bounds, which are refused here, are
    clamped there.

    >>> detector, progress = NoNewState(threshold=3), Progress()
    >>> for tool in ("get", "read", "get", "grep"):
    ...     result = ToolResult("s", 1, tool, ToolOutcome.OK, "pod-1 Pending")
    ...     progress.observe(result)
    ...     finding = detector.observe(result, progress)
    >>> finding.reason
    '3 results in a row held nothing that the run had not seen'

    Args:
        threshold: Results in a row that fire, at least 3.
        memory_results: Distinct results of the run that are remembered, at least `threshold`;
            the oldest is forgotten first, and is new again.
        exempt_tools: Names of tools that are there to wait.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_exempt_tools", "_length", "_memory_results", "_seen", "_threshold")

    name: ClassVar[str] = "no_new_state"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult, RunStarted)
    needs: ClassVar[tuple[str, ...]] = ("results",)

    def __init__(
        self,
        *,
        threshold: int = 6,
        memory_results: int = 64,
        exempt_tools: Collection[str] = ("wait_and_verify",),
    ) -> None:
        if threshold < MIN_THRESHOLD:
            raise ConfigError(
                f"{self.name}.threshold must be at least {MIN_THRESHOLD}, got {threshold!r}"
            )
        if memory_results < threshold:
            raise ConfigError(
                f"{self.name}.memory_results must be at least threshold ({threshold}), "
                f"got {memory_results!r}"
            )
        if isinstance(exempt_tools, str):
            raise ConfigError(
                f"{self.name}.exempt_tools must be a list of names, got {exempt_tools!r}"
            )
        self._threshold = threshold
        self._memory_results = memory_results
        self._exempt_tools = frozenset(exempt_tools)
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        if type(observation) is RunStarted:
            self.restart()
            return None
        name, outcome, digest, no_op, _ = progress.result
        if no_op or outcome is _ERROR or outcome is _REFUSED or name in self._exempt_tools:
            return None
        if digest is None:
            self._length = 0
            return None
        seen = self._seen
        if digest not in seen:
            self._length = 0
            if len(seen) == self._memory_results:
                del seen[next(iter(seen))]
            seen[digest] = None
            return None
        if outcome is _UNKNOWN:
            return None
        self._length += 1
        return self._finding() if self._length == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._seen: dict[int, None] = {}  # a set that knows its oldest member
        self._length = 0

    def _finding(self) -> Finding:
        count = self._length
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"{count} results in a row held nothing that the run had not seen",
            guidance=(
                f"Your last {count} tool results held nothing that you had not been given "
                "before; whatever you called, what came back did not change. Work with what "
                "you know now, or look where you have not looked yet."
            ),
            evidence={"count": count, "distinct": len(self._seen)},
        )
