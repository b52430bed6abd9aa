"""Finds results that say themselves that nothing was done."""

from typing import ClassVar, Final

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import (
    Finding,
    Kind,
    Observation,
    Severity,
    ToolOutcome,
    ToolResult,
)
from otel_watchdog.progress import Progress, Result
from otel_watchdog.wording import shortened

MIN_THRESHOLD = 2

_ERROR: Final = ToolOutcome.ERROR
_REFUSED: Final = ToolOutcome.REFUSED


class NoOpStreak:
    """Fires when `threshold` results in a row declare `no_op: true`, whatever the tool.

    Nothing is inferred: the result is a JSON object, and the tool says so in it. A result that
    did something clears the streak, and so does a failed one: that is `tool_failure_streak`'s. A
    result that was not captured neither counts nor clears. It fires once a streak.

    Severity is critical: the tools themselves say that nothing changes.

    Known false positive: a tool that declares a first, successful write as a no-op by mistake.

    Rule: go-steer/core-agent, `no-op-streak`; options out of bounds, which are refused here, are
    clamped there.

    >>> detector, progress = NoOpStreak(threshold=2), Progress()
    >>> for detail in ("done", "already done"):
    ...     text = f'{{"no_op": true, "detail": "{detail}"}}'
    ...     result = ToolResult("s", 1, "mark_done", ToolOutcome.OK, text)
    ...     progress.observe(result)
    ...     finding = detector.observe(result, progress)
    >>> finding.reason
    '2 tool calls in a row declared that they did nothing (mark_done)'

    Args:
        threshold: Declared no-ops in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_length", "_threshold", "_tools")

    name: ClassVar[str] = "no_op_streak"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("results",)

    def __init__(self, *, threshold: int = 3) -> None:
        if threshold < MIN_THRESHOLD:
            raise ConfigError(
                f"{self.name}.threshold must be at least {MIN_THRESHOLD}, got {threshold!r}"
            )
        self._threshold = threshold
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        result = progress.result
        outcome = result.outcome
        failed = outcome is _ERROR or outcome is _REFUSED
        if result.no_op and not failed:
            return self._count(result)
        if self._length and (failed or _is_captured(observation)):
            self.restart()
        return None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._length = 0
        self._tools: list[str] = []

    def _count(self, result: Result) -> Finding | None:
        self._length += 1
        if self._length > self._threshold:
            return None
        tool = result.name or "unnamed tool"
        if tool not in self._tools:
            self._tools.append(tool)
        return self._finding() if self._length == self._threshold else None

    def _finding(self) -> Finding:
        tools = shortened(", ".join(self._tools))
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.CRITICAL,
            reason=f"{self._length} tool calls in a row declared that they did nothing ({tools})",
            guidance=(
                f"Your last {self._length} tool calls ({tools}) each answered that nothing was "
                "left to do and nothing changed. What you want done is done already: go on to "
                "what is still open, or hand over your answer."
            ),
            evidence={"tools": tools, "count": self._length},
        )


def _is_captured(observation: Observation) -> bool:
    return isinstance(observation, ToolResult) and observation.result is not None
