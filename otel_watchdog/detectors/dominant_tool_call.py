"""Finds one tool call that fills most of the recent ones, with others strewn between."""

from collections import deque
from itertools import islice
from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolCall
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MIN_WINDOW_CALLS = 2
MIN_THRESHOLD = 2
MIN_DEFER = 2


class DominantToolCall:
    """Fires when one call makes up `threshold` of the last `window_calls`.

    Equal are the same tool and the same canonical arguments. The window need not be full:
    `a a a a b a a a a` fires. It keeps silent where the window holds `defer_row` of the call in a
    row, which is `repeated_tool_call`'s, or goes round as a whole, which is `tool_call_cycle`'s.
    It fires once for a call, and again after another one took its place or it became rare.

    Severity is critical: the same question, asked over and over, whatever is done between.

    Known false positive: a progress query between short steps, or a build run after each edit.

    Rule: go-steer/core-agent, `dominant-tool-call`; options out of bounds, which are refused
    here, are clamped there.

    >>> detector, progress = DominantToolCall(threshold=3), Progress()
    >>> for name in ("ls", "status", "status", "status"):
    ...     call = ToolCall(session="s", turn=1, name=name, arguments="{}")
    ...     progress.observe(call)
    ...     finding = detector.observe(call, progress)
    >>> finding.reason
    'status made up 3 of the last 4 calls, with {}'

    Args:
        window_calls: Calls that are looked at, at least 2.
        threshold: Equal calls among them that fire, 2 to `window_calls`.
        defer_row: Equal calls in a row that are left to `repeated_tool_call`, at least 2; 0
            leaves none.
        defer_period: Calls of the longest lap that is left to `tool_call_cycle`, at least 2; 0
            leaves none.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = (
        "_counts",
        "_defer_period",
        "_defer_row",
        "_dense",
        "_fired_for",
        "_keys",
        "_threshold",
        "_window_calls",
    )

    name: ClassVar[str] = "dominant_tool_call"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolCall,)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(
        self,
        *,
        window_calls: int = 12,
        threshold: int = 8,
        defer_row: int = 5,
        defer_period: int = 4,
    ) -> None:
        if window_calls < MIN_WINDOW_CALLS:
            raise ConfigError(
                f"{self.name}.window_calls must be at least {MIN_WINDOW_CALLS}, "
                f"got {window_calls!r}"
            )
        if not MIN_THRESHOLD <= threshold <= window_calls:
            raise ConfigError(
                f"{self.name}.threshold must be {MIN_THRESHOLD} to window_calls "
                f"({window_calls}), got {threshold!r}"
            )
        for option, value in (("defer_row", defer_row), ("defer_period", defer_period)):
            if value != 0 and value < MIN_DEFER:
                raise ConfigError(
                    f"{self.name}.{option} must be 0 or at least {MIN_DEFER}, got {value!r}"
                )
        self._window_calls = window_calls
        self._threshold = threshold
        self._defer_row = defer_row
        self._defer_period = defer_period
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        key = progress.call.key
        keys = self._keys
        counts = self._counts
        if len(keys) == self._window_calls:
            oldest = keys.popleft()
            left = counts[oldest] - 1
            if left:
                counts[oldest] = left
                if left == self._threshold - 1:
                    self._dense -= 1
            else:
                del counts[oldest]
        keys.append(key)
        count = counts[key] = counts.get(key, 0) + 1
        if count == self._threshold:
            self._dense += 1
        if self._dense:
            return self._judge()
        self._fired_for = ""
        return None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._keys: deque[str] = deque()
        self._counts: dict[str, int] = {}
        self._dense = 0  # calls that stand in the window at least `threshold` times
        self._fired_for = ""

    def _judge(self) -> Finding | None:
        count = max(self._counts.values())
        top = next(key for key in self._keys if self._counts[key] == count)
        if top == self._fired_for or self._is_in_a_row(top) or self._goes_round():
            return None
        self._fired_for = top
        return self._finding(top, count)

    def _is_in_a_row(self, top: str) -> bool:
        row = 0
        for key in self._keys:
            row = row + 1 if key == top else 0
            if row == self._defer_row > 0:
                return True
        return False

    def _goes_round(self) -> bool:
        """Say whether the whole window is laps of one cycle; the last may be cut short."""
        keys = self._keys
        return any(
            all(map(str.__eq__, keys, islice(keys, period, None)))
            for period in range(MIN_DEFER, min(self._defer_period, len(keys) - 1) + 1)
        )

    def _finding(self, top: str, count: int) -> Finding:
        tool, arguments = map(shortened, top.split("\0", 1))
        calls = len(self._keys)
        return Finding(
            detector=self.name,
            kind=Kind.DOMINANT,
            severity=Severity.CRITICAL,
            reason=f"{tool} made up {count} of the last {calls} calls, with {arguments}",
            guidance=(
                f"{count} of your last {calls} tool calls were {tool} with the same arguments "
                f"({arguments}); what you did in between did not change the question. Use what "
                "it gave you, change the arguments, or use another tool."
            ),
            evidence={"tool": tool, "arguments": arguments, "count": count, "calls": calls},
        )
