"""Finds the same tool call, with the same arguments, several times in a row."""

from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.evidence.exchanges import Call
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolCall
from otel_watchdog.progress import Progress, is_path_key
from otel_watchdog.wording import shortened

MIN_THRESHOLD = 2


class RepeatedToolCall:
    """Fires when calls equal to the first of a row are made `threshold` times in a row.

    Equal are the same tool and the same arguments, whatever the order of keys; paths are compared
    cleaned, and one that ends with the other counts as the same file. `a a a` fires, `a b a b`
    does not: that is `tool_call_cycle`'s. It fires once a row.

    Severity is critical: the same question can only get the same answer.

    Known false positive: a hand-written polling loop. Raise `threshold` for agents that poll.

    Rule: go-steer/core-agent, `repeated-tool-call`; options out of bounds, which are refused
    here, are clamped there.

    >>> detector, progress = RepeatedToolCall(threshold=2), Progress()
    >>> call = ToolCall(session="s", turn=1, name="ls", arguments="{}")
    >>> for _ in range(2):
    ...     progress.observe(call)
    ...     finding = detector.observe(call, progress)
    >>> finding.severity
    <Severity.CRITICAL: 'critical'>

    Args:
        threshold: Calls in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_first", "_length", "_threshold")

    name: ClassVar[str] = "repeated_tool_call"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolCall,)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(self, *, threshold: int = 5) -> None:
        if threshold < MIN_THRESHOLD:
            raise ConfigError(
                f"{self.name}.threshold must be at least {MIN_THRESHOLD}, got {threshold!r}"
            )
        self._threshold = threshold
        self._first: Call | None = None
        self._length = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        call = progress.call
        if self._first is None or not same_call(self._first, call):
            self._first = call
            self._length = 1
            return None
        self._length += 1
        return self._finding(call) if self._length == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._first = None
        self._length = 0

    def _finding(self, call: Call) -> Finding:
        tool = shortened(call.name)
        arguments = shortened(call.key.partition("\0")[2])
        return Finding(
            detector=self.name,
            kind=Kind.LOOP,
            severity=Severity.CRITICAL,
            reason=f"{tool} was called {self._threshold} times in a row with {arguments}",
            guidance=(
                f"You have called {tool} {self._threshold} times in a row with the same "
                f"arguments ({arguments}); calling it again will not tell you anything new. "
                "Use what it gave you, change the arguments, or use another tool."
            ),
            evidence={"tool": tool, "arguments": arguments, "count": self._threshold},
        )


def same_call(first: Call, call: Call) -> bool:
    """Say whether two calls ask the same; unlike a key, not transitive.

    Two paths are the same file if one is the other's end: an agent names a file now from the
    root, now from where it stands.
    """
    if first.key == call.key:
        return True
    arguments, others = first.arguments, call.arguments
    if first.name != call.name or arguments is None or others is None:
        return False
    if arguments.keys() != others.keys():
        return False
    for key, value in arguments.items():
        other = others[key]
        if value != other and not (is_path_key(key) and _same_file(value, other)):
            return False
    return True


def _same_file(path: object, other: object) -> bool:
    if not isinstance(path, str) or not isinstance(other, str):
        return False
    short, long = (path, other) if len(path) < len(other) else (other, path)
    return short not in {"", "."} and long.endswith(f"/{short}")
