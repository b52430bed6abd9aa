"""Finds one question in natural language that is put over and over in other words."""

import re
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar, Final, NamedTuple

from otel_watchdog.evidence.effects import doing_of
from otel_watchdog.evidence.exchanges import HAND_OFF, THINK, WAIT, WRITE, Call
from otel_watchdog.evidence.failures import acknowledges
from otel_watchdog.evidence.likeness import STOP_WORDS, is_prose, overlap, values_of, words_of
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolCall, UserMessage
from otel_watchdog.progress import Progress, is_ours
from otel_watchdog.wording import shortened

ALIKE = 0.6
MIN_WORDS = 4
MAX_TOOLS = 16
MAX_CHARS = 2000

_PROGRAMS: Final = frozenset({"code", "command", "cmd", "sql"})
_NAME: Final = re.compile(r"(?<=[^.!?:\s])\s+['\"(]?([A-Z]\w+)")

_PASSED: Final = frozenset({WRITE, HAND_OFF, WAIT, THINK})


class _Request(NamedTuple):
    key: str
    """Of the call; asking literally again is `unchanged_result`'s."""
    words: frozenset[str]
    """Without those that say nothing of what is asked."""
    names: frozenset[str]
    """Capitalised words within sentences."""


_NOTHING: Final = _Request("", frozenset(), frozenset())


class RewordedRequest:
    """Fires when `threshold` of a tool's last `window_calls` ask for nearly the same in prose.

    Whatever comes back, and also if nothing does: results that differ a little each time make every
    search look new, and what a helper answers often is not in the trace. Only natural language
    counts, of at least four words; requests that differ in a number or a proper name go through a
    list. A word of the user clears it.

    Severity is warn: results are not looked at.

    Known false positive: a template of a question that is filled with one name after the other, if
    the names are written small.

    Thresholds: 4 with an overlap of 0.6; 3 would nudge at a third wording, which is what good
    searchers do. If names did not count, three honest runs that check one shop after the other
    would be taken for stuck.

    Args:
        threshold: Requests that fire, at least 2.
        window_calls: Calls of the tool among which they stand.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_requests", "_threshold", "_window_calls")

    name: ClassVar[str] = "reworded_request"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolCall, UserMessage)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(self, *, threshold: int = 4, window_calls: int = 9) -> None:
        check_thresholds(self.name, threshold)
        check_thresholds(self.name, window_calls, option="window_calls")
        self._threshold = threshold
        self._window_calls = window_calls
        self._requests: dict[str, deque[_Request]] = {}

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        if type(observation) is UserMessage:
            if not is_ours(observation):
                self._requests.clear()
            return None
        call = progress.call
        if not call.arguments or call.key.count(" ") < MIN_WORDS - 1:
            return None
        if _is_silent(progress, call.name):
            return None
        request = request_of(call.key, call.arguments)
        if len(request.words) < MIN_WORDS:
            return None
        if doing_of(call.name, call.arguments).effect in _PASSED:
            return None
        requests = self._requests.get(call.name)
        if requests is None:
            if len(self._requests) >= MAX_TOOLS:
                del self._requests[next(iter(self._requests))]
            requests = deque(maxlen=self._window_calls - 1)
            self._requests[call.name] = requests
        times = 1 + sum(_is_same(request, other) for other in requests)
        requests.append(request)
        return self._finding(call, times) if times >= self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._requests.clear()

    def _finding(self, call: Call, times: int) -> Finding:
        self._requests[call.name].clear()
        tool = shortened(call.name)
        arguments = shortened(call.key.partition("\0")[2])
        return Finding(
            detector=self.name,
            kind=Kind.REPHRASE,
            severity=Severity.WARN,
            reason=f"{tool} was asked for nearly the same {times} times, the last with {arguments}",
            guidance=(
                f"You have asked {tool} for nearly the same thing {times} times in other words, "
                f"the last time with {arguments}. Use what you were given, and ask something that "
                "it does not answer, or another source."
            ),
            evidence={"tool": tool, "arguments": arguments, "count": times},
        )


def request_of(key: str, arguments: Mapping[str, Any]) -> _Request:
    """Return the natural language in a call's arguments."""
    words: set[str] = set()
    names: set[str] = set()
    if not _PROGRAMS.isdisjoint(arguments):
        return _NOTHING
    for text in values_of(arguments):
        if text.count(" ") > 1 and is_prose(text[:MAX_CHARS]):
            words |= words_of(text[:MAX_CHARS])
            names.update(name.lower() for name in _NAME.findall(text[:MAX_CHARS]))
    if not words:
        return _NOTHING
    return _Request(key, frozenset(words - STOP_WORDS), frozenset(names - STOP_WORDS))


def _is_same(one: _Request, other: _Request) -> bool:
    """Say whether two requests ask for nearly the same, of the same people and places."""
    if one.key == other.key or overlap(one.words, other.words) < ALIKE:
        return False
    if one.names - other.words or other.names - one.words:
        return False
    differing = one.words ^ other.words
    return not differing or not all(map(str.isdigit, differing))


def _is_silent(progress: Progress, tool: str) -> bool:
    """Say whether the tool has only just confirmed that it did what it was told."""
    exchange = progress.exchange
    return exchange is not None and exchange.tool == tool and acknowledges(exchange.text)
