"""Gemini CLI's loop detection, its counting written anew: calls and text, no results.

The same call 5 times in a row, or a round of 2 to 5 calls 5 times, arguments compared as they
stand; or chanting within the text since the last call. What it finds first leads to a recovery
turn, here a warning; what it finds after it ends the prompt: a halt. All begins anew when the user
speaks. Its check by a model, from turn 30 on, is left out, as are models of all others.
"""

import json
from collections import deque

from benchmarks.quality.peers.chanting import CHUNK, Chanting
from benchmarks.quality.peers.guards import HALT, WARN, Rows
from benchmarks.quality.peers.steps import Call, Message, Step

TIMES = 5
MAX_PERIOD = 5


class GeminiCli:
    """Looks for calls that go round, and listens to the text between them."""

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
        self._calls.append((call.tool, json.dumps(dict(call.args), default=str)))
        calls = list(self._calls)
        return any(
            calls[-period * TIMES :] == calls[-period:] * TIMES
            for period in range(1, MAX_PERIOD + 1)
        )

    def _begin(self) -> None:
        self._calls: deque[tuple[str, str]] = deque(maxlen=TIMES * MAX_PERIOD)
        self._found = 0
        self._chanting = Chanting(max_history=5000, max_distance=5 * CHUNK, max_periods=5)


ROWS: Rows = {"Gemini CLI's rules": lambda _: GeminiCli()}
