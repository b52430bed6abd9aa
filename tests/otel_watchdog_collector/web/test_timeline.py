"""A run as it is told: in order, results with their calls, what changed after a correction."""

import pytest

from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.stores import MemoryStore
from otel_watchdog_collector.web.timeline import PAGE_TURNS, timeline


class Told:
    """A store to which a run is told."""

    def __init__(self):
        self.store = MemoryStore()
        self._number = 0

    def tell(self, *observations):
        """Keep observations as one batch."""
        numbered = []
        for one in observations:
            self._number += 1
            numbered.append({"n": self._number, **one})
        fields = {"session": "s", "run": "r", "first": numbered[0]["n"], "observations": numbered}
        self.keep(Table.OBSERVATIONS, f"s/{numbered[0]['n']:09d}", fields)
        return self

    def call(self, turn, name, arguments, result="", **also):
        """Keep a call and its result."""
        call = {"kind": "tool_call", "turn": turn, "name": name, "arguments": arguments}
        answer = {"kind": "tool_result", "turn": turn, "name": name, "result": result}
        return self.tell(call, {**answer, "outcome": "ok", **also})

    def correct(self, turn, run="r"):
        """Keep a correction."""
        fields = {"session": "s", "run": run, "turn": turn, "tier": "nudge", "state": "delivered"}
        return self.keep(Table.CORRECTIONS, f"{run}{turn}", fields)

    def keep(self, table, id_, fields):
        """Keep a row."""
        row = Row(table=table, tenant="t", id=id_, at=float(self._number), fields=fields)
        self.store.commit((), [row])
        return self

    def run(self, until=None):
        """Return the run."""
        return timeline(self.store, "t", "s", "r", until)


def test_what_changed_after_a_correction_is_told():
    """Three turns before and after, and what is new among the latter."""
    told = Told()
    for turn in (1, 2, 3, 4):
        told.call(turn, "read", '{"path": "a"}')
    told.correct(4).call(5, "read", '{"path": "b"}').call(6, "read", '{"path": "a"}')

    (change,) = [one.change for turn in told.run().turns for one in turn.corrections]

    assert change.before == "3 calls, 1 different: 3 read"
    assert change.after == "2 calls, 2 different: 2 read"
    assert change.new == ['read {"path": "b"}']


def test_calls_of_one_turn_have_their_own_results():
    """By id, whatever the order; without ids, in the order of the calls."""
    told = Told()
    calls = [{"kind": "tool_call", "turn": 1, "name": "ls", "call_id": id_} for id_ in "ab"]
    answers = [
        {
            "kind": "tool_result",
            "turn": 1,
            "name": "ls",
            "call_id": id_,
            "outcome": "ok",
            "result": id_,
        }
        for id_ in "ba"
    ]
    told.tell(*calls, *answers)
    plain = [{"kind": "tool_call", "turn": 2, "name": "ls"}] * 2
    results = [
        {"kind": "tool_result", "turn": 2, "name": "ls", "outcome": "ok", "result": text}
        for text in ("first", "second")
    ]
    told.tell(*plain, *results)

    first, second = told.run().turns

    assert [call.result for call in first.calls] == ["a", "b"]
    assert [call.result for call in second.calls] == ["first", "second"]
    assert not any(call.is_open for call in (*first.calls, *second.calls))


def test_a_call_without_a_result_is_open_and_a_result_without_a_call_is_shown():
    """Nothing is made up for either."""
    told = Told().tell({"kind": "tool_call", "turn": 1, "name": "wait", "arguments": "{}"})
    told.tell({"kind": "tool_result", "turn": 2, "name": "mail", "outcome": "error", "error": "no"})

    first, second = told.run().turns

    assert [(call.is_open, call.result) for call in first.calls] == [(True, None)]
    assert [(call.name, call.error, call.arguments) for call in second.calls] == [
        ("mail", "no", None)
    ]


def test_parts_may_come_twice():
    """After a crash the same batch is judged once more: it is the same row."""
    told = Told().call(1, "ls", "{}", "a")
    told._number = 0
    told.call(1, "ls", "{}", "a")

    assert [call.times for turn in told.run().turns for call in turn.calls] == [1]


def test_a_long_run_is_leafed_through():
    """The latest turns first, and from there back."""
    told = Told()
    for turn in range(1, 2 * PAGE_TURNS + 11):
        told.call(turn, "ls", str(turn))

    last = told.run()
    before = told.run(last.earlier)

    assert [turn.number for turn in last.turns] == list(range(PAGE_TURNS + 11, 2 * PAGE_TURNS + 11))
    assert (last.earlier, last.later, last.total) == (PAGE_TURNS + 10, False, 2 * PAGE_TURNS + 10)
    assert [turn.number for turn in before.turns] == list(range(11, PAGE_TURNS + 11))
    assert (before.earlier, before.later) == (10, True)


@pytest.mark.parametrize("run", ["other", ""])
def test_other_runs_of_the_session_stay_out(run):
    """A session has many runs; each is a page of its own."""
    told = Told().call(1, "ls", "{}").correct(1, run)

    assert [turn.corrections for turn in told.run().turns] == [[]]
