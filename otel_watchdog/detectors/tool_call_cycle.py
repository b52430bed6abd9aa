"""Finds a few tool calls that go round and round, lap after lap the same."""

from collections import deque
from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolCall
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MIN_PERIOD = 2
MIN_THRESHOLD = 2


class ToolCallCycle:
    """Fires when the last calls are `threshold` equal laps of 2 to `max_period` calls.

    Equal are the same tool and the same canonical arguments. `a b a b a b` fires; `a a a a a a`
    does not: that is `repeated_tool_call`'s. It fires once a cycle, wherever in the lap one looks
    at it, and again after the cycle was left.

    Severity is critical: a lap that changed nothing twice will change nothing a third time.

    Known false positive: polling in two steps, such as sleep and ask, until something is ready.

    Rule: go-steer/core-agent, `alternating-tool-cycle`; options out of bounds, which are refused
    here, are clamped there.

    >>> detector, progress = ToolCallCycle(threshold=2), Progress()
    >>> for name in ("list", "check", "list", "check"):
    ...     call = ToolCall(session="s", turn=1, name=name, arguments="{}")
    ...     progress.observe(call)
    ...     finding = detector.observe(call, progress)
    >>> finding.evidence["sequence"]
    'list → check'

    Args:
        max_period: Calls of the longest lap that is looked for, at least 2.
        threshold: Laps that fire, at least 2.

    Raises:
        ConfigError: `max_period` or `threshold` is below 2.
    """

    __slots__ = ("_cycle", "_keys", "_matches", "_matching", "_max_period", "_period", "_threshold")

    name: ClassVar[str] = "tool_call_cycle"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolCall,)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(self, *, max_period: int = 4, threshold: int = 3) -> None:
        if max_period < MIN_PERIOD:
            raise ConfigError(
                f"{self.name}.max_period must be at least {MIN_PERIOD}, got {max_period!r}"
            )
        if threshold < MIN_THRESHOLD:
            raise ConfigError(
                f"{self.name}.threshold must be at least {MIN_THRESHOLD}, got {threshold!r}"
            )
        self._max_period = max_period
        self._threshold = threshold
        self.restart()

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._keys: deque[str] = deque([""] * self._max_period, self._max_period)
        # How many of the latest calls, in a row, equal the one so many calls before them.
        self._matches = [0] * (self._max_period + 1)
        self._matching = False
        # The cycle that was there after the call before: its calls in a row, and who it is.
        self._period = 0
        self._cycle: tuple[str, ...] = ()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        key = progress.call.key
        keys = self._keys
        if key not in keys:
            if self._matching:
                self._matches = [0] * (self._max_period + 1)
                self._matching = False
                self._period = 0
            keys.append(key)
            return None
        self._matching = True
        matches = self._matches
        for period in range(1, self._max_period + 1):
            matches[period] = matches[period] + 1 if keys[-period] == key else 0
        keys.append(key)
        return self._judge()

    def _judge(self) -> Finding | None:
        before = self._period
        self._period = period = self._period_at_tail()
        if not period:
            return None
        if period == before and self._matches[period] > period * (self._threshold - 1):
            return None  # it goes on
        lap = tuple(self._keys)[-period:]
        cycle = min(lap[start:] + lap[:start] for start in range(period))
        if before and cycle == self._cycle:
            return None
        self._cycle = cycle
        return self._finding(lap)

    def _period_at_tail(self) -> int:
        """Return the calls of the shortest lap that the last calls repeat; 0 if there is none."""
        equal_in_a_row = self._matches[1] + 1
        laps_after_first = self._threshold - 1
        for period in range(MIN_PERIOD, self._max_period + 1):
            if self._matches[period] >= period * laps_after_first and equal_in_a_row < period:
                return period
        return 0

    def _finding(self, lap: tuple[str, ...]) -> Finding:
        sequence = shortened(" → ".join(key.partition("\0")[0] for key in lap))
        laps = self._threshold
        return Finding(
            detector=self.name,
            kind=Kind.CYCLE,
            severity=Severity.CRITICAL,
            reason=f"{sequence} was called {laps} times over with the same arguments",
            guidance=(
                f"You have gone through {sequence} {laps} times over, each time with the same "
                "arguments; another lap will not tell you anything new. Use what these calls "
                "gave you, or break the pattern with a call that you have not made yet."
            ),
            evidence={"sequence": sequence, "period": len(lap), "count": laps},
        )
