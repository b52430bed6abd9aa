"""OpenHands' stuck detection, its counting written anew: actions and observations of late.

Among the last 20 events since the user spoke: the same action with the same observation 4 times;
the same action failing 3 times (a nudge, here a warning) and a 4th (stuck); 3 messages in a row
without an action; two actions alternating with their observations, 6 long. Being stuck is a halt.
What the model thought is part of an action, so that a reworded thought makes it another one; the
second row leaves thoughts out, which OpenHands has no setting for. Its unit is the conversation:
one guard for all agents, which serves it better than one for each. Agents that talk to each other
trip its rule of messages all the same.
"""

from collections import deque
from dataclasses import dataclass

from benchmarks.quality.peers import tools
from benchmarks.quality.peers.guards import HALT, WARN, Rows
from benchmarks.quality.peers.steps import Message, Result, Step

EVENTS = 20
REPEATS = 4
ERRORS = 3
MESSAGES = 3
ALTERNATING = 6
WATCHES_RUN = True


@dataclass(frozen=True, slots=True)
class Pair:
    """An action, and what came of it."""

    action: tuple[str, str, str]
    observation: tuple[bool, str]

    @property
    def is_error(self) -> bool:
        """Whether the action failed."""
        return self.observation[0]


class OpenHands:
    """Keeps pairs of action and observation, which are two events each, and messages."""

    def __init__(self, *, compares_thoughts: bool = True) -> None:
        self._compares_thoughts = compares_thoughts
        self._recent: deque[Pair | None] = deque()
        """A pair, or `None` for a message of the model."""

    def observe(self, step: Step) -> str | None:
        """Take note of an action with its observation, or of a message."""
        if isinstance(step, Message):
            if step.is_from_user:
                self._recent.clear()
                return None
            self._recent.append(None)
        elif isinstance(step, Result):
            self._recent.append(self._pair(step))
        else:
            return None
        while sum(1 if one is None else 2 for one in self._recent) > EVENTS:
            self._recent.popleft()
        return self._verdict()

    def _pair(self, step: Result) -> Pair:
        call = step.call
        thought = call.thought if self._compares_thoughts else ""
        return Pair(
            (call.tool, tools.canonical(call.args), thought), (bool(step.failed), step.text)
        )

    def _verdict(self) -> str | None:
        if list(self._recent)[-MESSAGES:] == [None] * MESSAGES:
            return HALT
        pairs = [one for one in self._recent if one is not None]
        if len(pairs) >= REPEATS and len(set(pairs[-REPEATS:])) == 1:
            return HALT
        if len(pairs) >= ALTERNATING and _alternates(pairs[-ALTERNATING:]):
            return HALT
        errors = _errors(pairs)
        if errors > ERRORS:
            return HALT
        is_nudged = errors == ERRORS and self._recent[-1] is not None
        return WARN if is_nudged else None


def _alternates(pairs: list[Pair]) -> bool:
    return all(pairs[number] == pairs[number + 2] for number in range(len(pairs) - 2))


def _errors(pairs: list[Pair]) -> int:
    """Return how often the last action failed in a row, in whatever words."""
    count = 0
    for pair in reversed(pairs):
        if not pair.is_error or pair.action != pairs[-1].action:
            break
        count += 1
    return count


ROWS: Rows = {
    "OpenHands' rules": lambda _: OpenHands(),
    "OpenHands' rules, thoughts left out": lambda _: OpenHands(compares_thoughts=False),
}
