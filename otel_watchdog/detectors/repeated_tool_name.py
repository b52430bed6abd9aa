"""Finds one tool called many times in a row, whatever the arguments."""

from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolCall
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MIN_THRESHOLD = 2
MIN_DEFER = 2


class RepeatedToolName:
    """Fires when one tool is called `threshold` times in a row, whatever the arguments.

    Rewording one request fires; a sweep that uses another tool now and then does not. While the
    latest `defer_row` calls are equal it waits, for that is `repeated_tool_call`'s, and fires on
    the first call that differs. It fires once a row.

    Severity is warn: each call may be new work.

    Known false positive: a long sweep over many files or records with one tool.

    Rule: go-steer/core-agent, `repeated-tool-name`; options out of bounds, which are refused
    here, are clamped there.

    >>> detector, progress = RepeatedToolName(threshold=2), Progress()
    >>> for query in ("loop", "loops"):
    ...     call = ToolCall(session="s", turn=1, name="search", arguments=f'{{"q": "{query}"}}')
    ...     progress.observe(call)
    ...     finding = detector.observe(call, progress)
    >>> finding.reason
    'search was called 2 times in a row, and nothing else'

    Args:
        threshold: Calls in a row that fire, at least 2.
        defer_row: Equal calls in a row that are left to `repeated_tool_call`, at least 2; 0
            leaves none.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_defer_row", "_equal", "_fired", "_key", "_length", "_threshold", "_tool")

    name: ClassVar[str] = "repeated_tool_name"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolCall,)
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, threshold: int = 15, defer_row: int = 5) -> None:
        if threshold < MIN_THRESHOLD:
            raise ConfigError(
                f"{self.name}.threshold must be at least {MIN_THRESHOLD}, got {threshold!r}"
            )
        if defer_row != 0 and defer_row < MIN_DEFER:
            raise ConfigError(
                f"{self.name}.defer_row must be 0 or at least {MIN_DEFER}, got {defer_row!r}"
            )
        self._threshold = threshold
        self._defer_row = defer_row
        self.restart()

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._tool = ""
        self._length = 0
        self._key = ""
        self._equal = 0  # how many of the latest calls are the same call
        self._fired = False

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        call = progress.call
        if call.key == self._key:
            self._equal += 1
        else:
            self._key = call.key
            self._equal = 1
            if call.name != self._tool:
                self._tool = call.name
                self._length = 1
                self._fired = False
                return None
        self._length += 1
        if self._fired or self._length < self._threshold:
            return None
        if self._defer_row and self._equal >= self._defer_row:
            return None
        self._fired = True
        return self._finding()

    def _finding(self) -> Finding:
        tool, count = shortened(self._tool), self._length
        return Finding(
            detector=self.name,
            kind=Kind.REPHRASE,
            severity=Severity.WARN,
            reason=f"{tool} was called {count} times in a row, and nothing else",
            guidance=(
                f"You have called {tool} {count} times in a row and used no other tool in "
                "between. If each call covers a new item, go on. If you are rewording one "
                "request, more wording will not help: use what you have, or use another tool."
            ),
            evidence={"tool": tool, "count": count},
        )
