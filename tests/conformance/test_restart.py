"""What a claimed correction does to the evidence, by profile."""

from collections.abc import Callable

import pytest

from otel_watchdog import (
    Mode,
    ModelTurn,
    Observation,
    Profile,
    ToolCall,
    ToolOutcome,
    ToolResult,
    Watchdog,
    WatchdogConfig,
)
from otel_watchdog.profiles import CLASSIC

NO_OP = '{"no_op": true}'

GOES_ON: dict[str, Callable[[int], list[Observation]]] = {
    "repeated_tool_call": lambda turn: [ToolCall("s", turn, "ls", "{}")],
    "tool_call_cycle": lambda turn: [ToolCall("s", turn, "ab"[turn % 2], "{}")],
    "dominant_tool_call": lambda turn: [ToolCall("s", turn, "aaaab"[turn % 5], "{}")],
    "repeated_tool_name": lambda turn: [ToolCall("s", turn, "find", f'{{"q": {turn}}}')],
    "tool_failure_streak": lambda turn: [ToolResult("s", turn, "ls", ToolOutcome.ERROR)],
    "no_op_streak": lambda turn: [ToolResult("s", turn, "ls", ToolOutcome.OK, NO_OP)],
    "no_new_state": lambda turn: [ToolResult("s", turn, "ls", ToolOutcome.OK, "same")],
    "tools_without_text": lambda turn: [
        ModelTurn("s", turn, text=""),
        ToolCall("s", turn, "ls", None),
    ],
}
"""One turn of a pattern that never ends, by detector."""


def fired_at(cls, profile):
    """Return the turns of findings where each correction is claimed before the next turn."""
    turns = []
    watchdog = Watchdog(
        config=WatchdogConfig(profile=profile, mode=Mode.FEEDBACK, refractory_turns=0),
        detectors=[cls()],
        on_finding=lambda _, observation: turns.append(observation.turn),
    )
    for turn in range(1, 50):
        for observation in GOES_ON[cls.name](turn):
            correction = watchdog.observe(observation)
            if correction:
                watchdog.claim(correction)
    return turns


@pytest.mark.parametrize("cls", CLASSIC, ids=lambda cls: cls.name)
def test_classic_finds_a_streak_once(cls):
    """The published rule knows no correction: a streak that goes on is the same streak."""
    assert len(fired_at(cls, Profile.CLASSIC)) == 1


@pytest.mark.parametrize("cls", CLASSIC, ids=lambda cls: cls.name)
def test_standard_judges_anew_after_a_claimed_correction(cls):
    """The agent starts with a clean sheet; what fires next is all its own."""
    first, second, *_ = fired_at(cls, Profile.STANDARD)

    assert second >= 2 * first - 1


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("cls", CLASSIC, ids=lambda cls: cls.name)
def test_an_unclaimed_correction_restarts_nothing(cls, profile):
    """An agent that was told nothing has not been given a second chance."""
    turns = []
    watchdog = Watchdog(
        config=WatchdogConfig(profile=profile, mode=Mode.FEEDBACK, min_turns=0),
        detectors=[cls()],
        on_finding=lambda _, observation: turns.append(observation.turn),
    )

    for turn in range(1, 50):
        for observation in GOES_ON[cls.name](turn):
            watchdog.observe(observation)

    assert len(turns) == 1
