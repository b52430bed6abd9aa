"""Qwen Code's loop detection, its counting written anew; what it finds ends the turn: a halt.

As it ships: the same call 5 times in a row (of `task_list` only while its results stay the same);
8 looks at the state of a git repository in a row; more than 100 calls with one of them 6 times, or
more than 1000. The second row adds what its setting `skipLoopDetection: false` turns on: a call 6
times anywhere, two calls alternating 3 times, 8 reading calls among 15 once something else was
called, one tool 8 times in a row, chanting. All begins anew when the user speaks. Its rule
about thoughts needs summaries of reasoning, which recordings do not have. Later releases also hear
chants of whole paragraphs, which this does not.
"""

import re
from collections import Counter, deque

from benchmarks.quality.peers import tools
from benchmarks.quality.peers.chanting import CHUNK, Chanting
from benchmarks.quality.peers.guards import HALT, Rows
from benchmarks.quality.peers.steps import Call, Message, Result, Step

CALLS = 5
STAGNATION = 8
SOFT_CAP, HARD_CAP = 100, 1000
DUPLICATES = 6
ALTERNATING = 6
READS, READ_WINDOW = 8, 15
CHANGING = "task_list"
"""The tool that others change the answer of."""
READING = ("read_", "list_", "zoom_image")
GIT = re.compile(
    r"git(\s+(-C\s+\S+|--no-pager))*\s+"
    r"(status\b.*|ls-files\b.*|diff(\s+(-\S*|(HEAD|@)([~^]\d*)*|[0-9a-f]{7,40}|\S+\.\.\S+))*)",
    re.IGNORECASE,
)

Key = tuple[str, str]


class Qwen:
    """Counts calls before they are made.

    Args:
        is_heuristic: Whether the rules that are off by default are on.
    """

    _last: Key | None
    _streak: int
    _streak_results: list[str]
    _git: int
    _named: int
    _last_name: str | None

    def __init__(self, *, is_heuristic: bool = False) -> None:
        self._is_heuristic = is_heuristic
        self._begin()

    def observe(self, step: Step) -> str | None:
        """Look at a call, at a result that may change, or at a message."""
        if isinstance(step, Message) and step.is_from_user:
            self._begin()
        elif isinstance(step, Message):
            return HALT if self._is_heuristic and self._chanting.hears(step.text) else None
        elif isinstance(step, Result):
            if step.call.tool == CHANGING:
                self._streak_results.append(step.text)
        else:
            always, more = self._always(step), self._heuristic(step)
            return HALT if always or (more and self._is_heuristic) else None
        return None

    def _always(self, call: Call) -> bool:
        key = (call.tool, tools.canonical(call.args))
        if key != self._last:
            self._last, self._streak, self._streak_results = key, 0, []
        self._streak += 1
        self._counts[key] += 1
        command = tools.command_of(call)
        self._git = self._git + 1 if command is not None and _looks_at_git(command) else 0
        total = self._counts.total()
        is_capped = total > SOFT_CAP and max(self._counts.values()) >= DUPLICATES
        repeats = self._streak >= CALLS and not self._moves()
        return repeats or self._git >= STAGNATION or is_capped or total > HARD_CAP

    def _moves(self) -> bool:
        """Return whether the call in a row brings news; if so, begin to count anew."""
        if len(self._streak_results) < self._streak - 1 or len(set(self._streak_results)) == 1:
            return False
        self._streak, self._streak_results = 1, []
        return True

    def _heuristic(self, call: Call) -> bool:
        key = (call.tool, tools.canonical(call.args))
        chants = self._chanting.hears(call.thought)
        self._chanting.reset()
        self._keys.append(key)
        self._names.append(call.tool)
        self._has_acted |= not _reads(call.tool)
        self._named = self._named + 1 if call.tool == self._last_name else 1
        self._last_name = call.tool
        reads = self._has_acted and sum(map(_reads, self._names)) >= READS
        duplicates = call.tool != CHANGING and self._counts[key] >= DUPLICATES
        stagnates = self._named >= STAGNATION
        return chants or duplicates or _alternates(list(self._keys)) or reads or stagnates

    def _begin(self) -> None:
        self._last = None
        self._streak = 0
        self._streak_results = []
        self._counts: Counter[Key] = Counter()
        self._git = 0
        self._keys: deque[Key] = deque(maxlen=ALTERNATING)
        self._names: deque[str] = deque(maxlen=READ_WINDOW)
        self._has_acted = False
        self._last_name = None
        self._named = 0
        self._chanting = Chanting(max_history=1000, max_distance=1.5 * CHUNK, max_periods=None)


def _reads(tool: str) -> bool:
    return tool.startswith(READING)


def _alternates(keys: list[Key]) -> bool:
    return (
        len(keys) == ALTERNATING
        and keys[0] != keys[1]
        and all(key == keys[number % 2] for number, key in enumerate(keys))
    )


def _looks_at_git(command: str) -> bool:
    parts = [part.strip() for part in re.split(r"&&|\|\||[;&|\n]", command) if part.strip()]
    return bool(parts) and all(GIT.fullmatch(part) for part in parts)


ROWS: Rows = {
    "Qwen Code's rules": lambda _: Qwen(),
    "Qwen Code's rules, heuristics on": lambda _: Qwen(is_heuristic=True),
}
