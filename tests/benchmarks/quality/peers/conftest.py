"""Runs written by hand: calls with their results, and words between them."""

from itertools import count

import pytest

from benchmarks.quality.peers.steps import steps_of


def call(tool, args=None, result="done", *, failed=False, thought=None, agent=None):
    """Return the events of one call in a turn of its own; its turn is set by `told`."""
    spoken = [{"kind": "assistant_text", "agent": agent, "result": thought}] if thought else []
    return [
        *spoken,
        {"kind": "tool_call", "agent": agent, "name": tool, "args": args or {}},
        {"kind": "tool_result", "agent": agent, "name": tool, "result": result, "error": failed},
    ]


def message(text, *, user=False):
    """Return the event of a message without a call."""
    return [{"kind": "user_text" if user else "assistant_text", "result": text}]


def told(guard, *turns):
    """Play turns to a guard, and return what it said of each, the firmest."""
    events = [{**event, "turn": turn} for turn, one in enumerate(turns, start=1) for event in one]
    said: list[str | None] = [None] * len(turns)
    for step in steps_of(events):
        grade = guard.observe(step)
        turn = events[step.index]["turn"] - 1
        said[turn] = "halt" if "halt" in (grade, said[turn]) else grade or said[turn]
    return said


class Play:
    """What tests of rules play with."""

    call = staticmethod(call)
    message = staticmethod(message)
    told = staticmethod(told)

    def __init__(self):
        numbers = count()
        self.fresh = lambda: f"new {next(numbers)}"
        """A text that was not there before."""


@pytest.fixture
def play():
    """Return the means to write runs by hand and to play them."""
    return Play()
