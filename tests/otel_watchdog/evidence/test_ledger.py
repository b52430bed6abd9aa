"""What one session's finished calls amount to."""

import json

import pytest

from otel_watchdog import ModelTurn, ToolCall, ToolOutcome, ToolResult, UserMessage
from otel_watchdog.progress import Progress


class Told:
    """Evidence, told call by call."""

    def __init__(self):
        self.progress = Progress()
        self.turn = 0

    def call(self, tool, result, arguments=None, *, time=None):
        """A call and its result, in a turn of their own; return the record."""
        self.turn += 1
        text = json.dumps(arguments or {})
        self.progress.observe(ToolCall("s", self.turn, tool, text, f"c{self.turn}", time=time))
        outcome = ToolOutcome.UNKNOWN
        told = ToolResult("s", self.turn, tool, outcome, result, call_id=f"c{self.turn}")
        self.progress.observe(told)
        return self.progress.exchange


@pytest.fixture
def told():
    """Return evidence that is told call by call."""
    return Told()


def test_results_that_differ_in_a_clock_share_a_digest(told):
    """The same call brings the same."""
    one = told.call("ls", "a.py 10:00:01")
    other = told.call("ls", "a.py 10:00:02")

    assert one.raw != other.raw
    assert one.digest == other.digest


def test_a_change_begins_an_epoch_once(told):
    """The same edit again is not news."""
    epochs = [
        told.call("edit_file", "ok", {"path": "a", "old": old}).epoch for old in ("x", "x", "y")
    ]

    assert epochs == [1, 1, 2]


def test_reading_begins_none(told):
    """Looking changes nothing."""
    assert told.call("read_file", "x", {"path": "a"}).epoch == 0


def test_fewer_failures_than_ever_begin_an_epoch(told):
    """A test that fails less is progress."""
    lows = [told.call("run_tests", f"{n} failed").is_novel for n in (9, 7, 7, 8, 6)]

    assert lows == [False, True, False, False, True]


def test_a_word_of_the_user_begins_an_era(told):
    """But not a message of ours."""
    told.progress.observe(UserMessage("s", 1, "And now?"))
    told.progress.observe(UserMessage("s", 1, "[watchdog] An automated observer read this."))

    assert (told.progress.epoch, told.progress.era) == (1, 1)


def test_gap_is_the_time_since_the_same_call(told):
    """Whatever was done in between."""
    told.call("status", "running", {"id": 1}, time=10.0)
    told.call("ls", "a", time=15.0)
    again = told.call("status", "running", {"id": 1}, time=40.0)

    assert again.gap == 30.0


def test_calls_before_their_results_are_one_batch(told):
    """They are one decision."""
    for name in "ab":
        told.progress.observe(ToolCall("s", 1, name, "{}", name))
    batches = []
    for name in "ab":
        told.progress.observe(ToolResult("s", 1, name, result="x", call_id=name))
        batches.append(told.progress.exchange.batch)

    assert batches[0] == batches[1]
    assert told.call("c", "x").batch != batches[0]


def test_calls_of_a_turn_that_asked_for_several_are_one_batch(told):
    """Also where spans tell each call with its result."""
    told.progress.observe(ModelTurn("s", 1, text="", tool_calls=2))
    batches = []
    for name in "ab":
        told.progress.observe(ToolCall("s", 1, name, "{}", name))
        told.progress.observe(ToolResult("s", 1, name, result="x", call_id=name))
        batches.append(told.progress.exchange.batch)

    assert batches[0] == batches[1]


def test_what_was_not_captured_is_equal_to_nothing(told):
    """No identity, no digest."""
    told.progress.observe(ToolCall("s", 1, "ls", None, "c"))
    told.progress.observe(ToolResult("s", 1, "ls", call_id="c"))

    exchange = told.progress.exchange

    assert exchange.identity is None
    assert exchange.digest is None
    assert not exchange.is_known


def test_memory_is_bounded(told):
    """A long session keeps what it must and no more."""
    for number in range(1000):
        told.call(f"tool{number}", f"result {number}", {"path": f"f{number}"})

    ledger = told.progress._ledger
    kept = (ledger._seen, ledger._changes, ledger._aliases, ledger._by_call, ledger._by_tool)

    assert max(map(len, kept)) <= 256


def test_a_call_that_is_none_of_the_latest_tells_the_same(told):
    """Only in less room: its arguments in their order, its texts, lines and words."""
    first = told.call("find", "two lines\nof text", {"z": "a.py", "list": ["b", 1.5], "deep": {}})
    before = (first.arguments, first.values, first.lines, first.words)

    told.call("find", "other", {"z": "c.py"})
    after = (first.arguments, first.values, first.lines, first.words)

    assert after == before
    assert list(first.arguments) == ["z", "list", "deep"]
    assert after[0] is not before[0]
