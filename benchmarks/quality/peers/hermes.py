"""Hermes' guardrails over tool calls, their counting written anew, with its hard stops on.

The same call failing: a warning from the 2nd time, refused after 5. One tool failing: a warning
from the 3rd time, a halt at the 8th unless its failures are normal work, as a shell's. A reading
call with the same result: a warning from the 2nd time, refused after 5. Any call with the same
result 3 times in a row, or a round of 2 to 4 such calls 3 times: a notice (a warning here), at 5 a
halt. What changed something begins the count of failures anew; all begins anew when the user
speaks. Hermes lists its own tools by name; here they are told by the one table that serves all
(`tools`). Hard stops are its default where nobody attends; where somebody does, it only warns.
"""

import json
from collections import Counter, deque

from benchmarks.quality.peers import tools
from benchmarks.quality.peers.guards import HALT, WARN, Rows
from benchmarks.quality.peers.steps import Call, Message, Result, Step

EXACT_WARN, EXACT_BLOCK = 2, 5
TOOL_WARN, TOOL_HALT = 3, 8
SAME_WARN, SAME_BLOCK = 2, 5
IDENTICAL = 3
MAX_PERIOD = 4
HISTORY = 64
MAX_SEARCHES = 50
READING = {tools.READ, tools.SEARCH}
CHANGING = {tools.EDIT, tools.RUN, tools.WAIT}
TOLERANT = {tools.RUN, tools.WAIT}

Key = tuple[str, str]


class Hermes:
    """Looks at a call before it is made, and at its result."""

    def __init__(self) -> None:
        self._begin()

    def observe(self, step: Step) -> str | None:
        """Look at a call or a result."""
        if isinstance(step, Call):
            return self._before(step)
        if isinstance(step, Message):
            if step.is_from_user:
                self._begin()
            return None
        graded = (self._after(step), self._identical(step))
        return HALT if HALT in graded else WARN if WARN in graded else None

    def _before(self, call: Call) -> str | None:
        key = _key(call)
        if call.tool == "web_search":
            self._searches += 1
        failed = 0 if key in self._moved else self._exact[key]
        same = self._same.get(key, ("", 0))[1]
        is_refused = failed >= EXACT_BLOCK or same >= SAME_BLOCK or self._searches > MAX_SEARCHES
        return HALT if is_refused else None

    def _after(self, step: Result) -> str | None:
        key, kind = _key(step.call), tools.kind_of(step.call.tool)
        if _failed(step):
            return self._after_failure(key, kind)
        self._exact.pop(key, None)
        self._tool.pop(key[0], None)
        if kind in CHANGING:
            self._moved |= set(self._exact)
            self._tool.clear()
        if kind not in READING:
            return None
        result = _canonical(step.text)
        previous, count = self._same.get(key, ("", 0))
        self._same[key] = (result, count + 1 if count and previous == result else 1)
        return WARN if self._same[key][1] >= SAME_WARN else None

    def _after_failure(self, key: Key, kind: str) -> str | None:
        if key in self._moved:
            self._moved.discard(key)
            del self._exact[key]
        self._exact[key] += 1
        self._tool[key[0]] += 1
        self._same.pop(key, None)
        if self._tool[key[0]] >= TOOL_HALT and kind not in TOLERANT:
            return HALT
        warns = self._exact[key] >= EXACT_WARN or self._tool[key[0]] >= TOOL_WARN
        return WARN if warns else None

    def _identical(self, step: Result) -> str | None:
        self._history.append((_key(step.call), _canonical(step.text)))
        history = list(self._history)
        for period in range(1, MAX_PERIOD + 1):
            laps = _laps(history, period)
            waits = all(tools.kind_of(key[0]) == tools.WAIT for key, _ in history[-period:])
            if laps >= IDENTICAL and not waits:
                return HALT if laps >= SAME_BLOCK else WARN
        return None

    def _begin(self) -> None:
        self._exact: Counter[Key] = Counter()
        self._tool: Counter[str] = Counter()
        self._same: dict[Key, tuple[str, int]] = {}
        self._moved: set[Key] = set()
        """Calls that failed and since whose failure something was changed."""
        self._history: deque[tuple[Key, str]] = deque(maxlen=HISTORY)
        self._searches = 0


def _key(call: Call) -> Key:
    return (call.tool, tools.canonical(call.args))


def _laps(history: list[tuple[Key, str]], period: int) -> int:
    """Return how often the last `period` calls stand behind each other at the end."""
    laps = 1
    last = history[-period:]
    while history[-(laps + 1) * period : -laps * period] == last:
        laps += 1
    return laps


def _failed(step: Result) -> bool:
    """Return whether the call failed; where it was not recorded, by the words that Hermes takes."""
    if step.failed is not None:
        return step.failed
    head = step.text[:500].lower()
    return '"error"' in head or '"failed"' in head or step.text.startswith("Error")


def _canonical(text: str) -> str:
    try:
        return tools.canonical(json.loads(text))
    except ValueError:
        return text


ROWS: Rows = {"Hermes' rules": lambda _: Hermes()}
