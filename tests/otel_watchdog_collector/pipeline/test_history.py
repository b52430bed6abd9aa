"""What agents did is kept: without secrets, in order, and the same after a restart."""

import pytest

from otel_watchdog.model import (
    ModelTurn,
    Observation,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog_collector.observed import observation_of, plain, shortened
from otel_watchdog_collector.pipeline.history import History

SEEN: list[Observation] = [
    RunStarted("s", "r", "fixer", time=1.0),
    UserMessage("s", 0, "mend it", 1.5),
    ModelTurn("s", 1, 2.0, text="I look", tool_calls=1, model="m", input_tokens=7, output_tokens=3),
    ToolCall("s", 1, "ls", '{"path": "."}', "c1", 3.0),
    ToolResult("s", 1, "ls", ToolOutcome.ERROR, None, "no such folder", "c1", 4.0),
    RunEnded("s", "r", 1, time=5.0),
]


@pytest.mark.parametrize("observation", SEEN, ids=lambda one: type(one).__name__)
def test_an_observation_is_read_back_as_it_was(observation):
    """Nothing is lost but what is too long or secret."""
    assert observation_of(plain(observation, 1000), "s", "r") == observation


@pytest.mark.parametrize("before", range(0, 60, 7))
def test_no_secret_is_kept_whole_or_cut(before):
    """Wherever the cut falls."""
    secret = "sk-" + "abcdefghij" * 4

    kept = shortened("x" * before + " " + secret + " " + "y" * 2000, 40)

    assert "abcdefghij" not in kept


def test_what_is_cut_is_still_told_apart():
    """Two long results that differ at their end are two results to those who compare them."""
    first, second = shortened("x" * 5000 + "1", 100), shortened("x" * 5000 + "2", 100)

    assert first[:100] == second[:100]
    assert first != second
    assert shortened("x" * 5000 + "1", 100) == first


def test_the_same_batches_give_the_same_rows_after_a_restart():
    """Counting goes on where the snapshot was taken."""
    straight, first = History("t", 100), History("t", 100)
    expected = []
    for observation in SEEN:
        straight.observe(observation, "fixer", "shop")
        expected += straight.take(1.0)
    for observation in SEEN[:3]:
        first.observe(observation, "fixer", "shop")
        first.take(1.0)
    second = History("t", 100)
    second.thaw(first.freeze())
    rows = []
    for observation in SEEN[3:]:
        second.observe(observation, "fixer", "shop")
        rows += second.take(1.0)

    assert rows == expected[3:]
    assert [row.id for row in expected] == [f"s/{number:09d}" for number in range(1, 7)]
