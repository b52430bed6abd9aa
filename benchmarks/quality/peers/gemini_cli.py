"""Gemini CLI's loop detection, its counting written anew: calls and text, no results.

The same call 5 times in a row, arguments compared as they stand, or chanting within the text since
the last call. What it finds first leads to a recovery turn, here a warning; what it finds after it
ends the prompt: a halt. All begins anew when the user speaks. Its check by a model, from turn 30
on, is left out, as are models of all others.
"""

import json

from benchmarks.quality.peers.chanting import CHUNK, TIMES, Chanting
from benchmarks.quality.peers.guards import HALT, WARN, Rows
from benchmarks.quality.peers.steps import Call, Message, Step

CALLS = 5


class GeminiCli:
    """Counts calls that are the same, and listens to the text between them."""

    _last: tuple[str, str] | None
    _count: int

    def __init__(self) -> None:
        self._begin()

    def observe(self, step: Step) -> str | None:
        """Look at a call before it is made, or at a message."""
        if isinstance(step, Message) and step.is_from_user:
            self._begin()
            return None
        if isinstance(step, Message):
            is_loop = self._chanting.hears(step.text)
        elif isinstance(step, Call):
            is_loop = self._chanting.hears(step.thought)
            self._chanting.reset()
            is_loop |= self._repeats(step)
        else:
            return None
        if not is_loop:
            return None
        self._found += 1
        return WARN if self._found == 1 else HALT

    def _repeats(self, call: Call) -> bool:
        key = (call.tool, json.dumps(dict(call.args), default=str))
        self._count = self._count + 1 if key == self._last else 1
        self._last = key
        return self._count >= CALLS

    def _begin(self) -> None:
        self._last = None
        self._count = 0
        self._found = 0
        self._chanting = Chanting(max_history=5000, max_distance=5 * CHUNK, max_periods=TIMES // 2)


ROWS: Rows = {"Gemini CLI's rules": lambda _: GeminiCli()}
