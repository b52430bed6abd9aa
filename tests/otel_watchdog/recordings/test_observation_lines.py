"""Observation lines: each kind of event, turns, calls and results that belong together, agents and runs."""

import json

import pytest

from otel_watchdog import RepeatedToolCall, replay
from tests.otel_watchdog.recordings.recording_cases import FILES, calls, event, observed, shapes


def test_each_kind_of_event_is_an_observation():
    """Texts, calls, results and users, between the run's ends."""
    found = observed(
        event("user_text", 0, result="go"),
        event("assistant_text", 1, result="I look."),
        event("tool_call", 1, name="ls", args={"b": 1, "a": None}, call_id="c1"),
        event("tool_result", 1, name="ls", result="a.txt", error=False, call_id="c1"),
    )

    about = {"session": "r"}
    assert found == [
        about | {"kind": "run_started", "turn": 0},
        about | {"kind": "user_message", "turn": 0, "result": "go"},
        about | {"kind": "model_turn", "turn": 1, "result": "I look."},
        about
        | {
            "kind": "tool_call",
            "turn": 1,
            "name": "ls",
            "call_id": "c1",
            "arguments": '{"b":1,"a":null}',
        },
        about
        | {
            "kind": "tool_result",
            "turn": 1,
            "name": "ls",
            "call_id": "c1",
            "result": "a.txt",
            "outcome": "ok",
        },
        about | {"kind": "run_ended", "turn": 1},
    ]


def test_a_turn_without_text_is_no_model_turn():
    """Absence is silence in this form, not an uncaptured text."""
    found = observed(event("tool_call", name="ls", args=None))

    assert [one["kind"] for one in found] == ["run_started", "tool_call", "run_ended"]
    assert "arguments" not in found[1]


@pytest.mark.parametrize(
    ("result", "error", "outcome"),
    [
        ("a.txt", False, "ok"),
        ("a.txt", None, "ok"),
        ("no matches", False, "empty"),
        ("boom", True, "error"),
        ('{"error": "401 Unauthorized"}', False, "error"),
        (None, False, "ok"),
        (None, None, "unknown"),
    ],
)
def test_outcomes(result, error, outcome):
    """An error may be the span's, or stand in the result; unknown stays unknown."""
    found = observed(event("tool_result", name="ls", result=result, error=error))

    assert found[1]["outcome"] == outcome


def test_a_result_without_an_id_belongs_to_the_oldest_open_call_of_its_name():
    """It carries that call's turn."""
    found = observed(
        event("tool_call", 1, name="a", args={}),
        event("tool_call", 1, name="b", args={}),
        event("tool_call", 2, name="a", args={}),
        event("tool_result", 2, name="a", result="1"),
        event("tool_result", 2, name="a", result="2"),
        event("tool_result", 2, name="b", result="3"),
    )

    results = [(one["name"], one["turn"]) for one in found if one["kind"] == "tool_result"]
    assert results == [("a", 1), ("a", 2), ("b", 1)]


def test_what_is_delivered_twice_counts_once():
    """The same call by the same id in the same turn; a later turn may use the id again."""
    call = event("tool_call", 1, name="ls", args={}, call_id="c1")
    result = event("tool_result", 1, name="ls", result="a", call_id="c1")
    later = [call | {"turn": 2}, result | {"turn": 2}]

    found = observed(call, result, call, result, *later)

    assert [(one["kind"], one["turn"]) for one in found[1:-1]] == [
        ("tool_call", 1),
        ("tool_result", 1),
        ("tool_call", 2),
        ("tool_result", 2),
    ]


def test_an_event_without_a_turn_carries_on():
    """It is in the turn of the one before it; the first is in turn 1."""
    found = observed(
        {"kind": "tool_call", "name": "ls"},
        event("tool_call", 3, name="ls"),
        {"kind": "assistant_text", "result": "done"},
    )

    assert [one["turn"] for one in found[1:-1]] == [1, 3, 3]


def test_agents_have_sessions_of_their_own():
    """Where there are several; one alone has the run's."""
    (run,) = replay.read(FILES / "052-supervisor-worker-handoff-loop.json")

    assert [(s.id, s.agent) for s in run.sessions] == [
        (f"{run.id}/supervisor", "supervisor"),
        (f"{run.id}/worker", "worker"),
    ]
    assert {one["session"] for one in observed(event("user_text", agent="only", result="x"))} == {
        "r"
    }


def test_runs_follow_each_other_in_their_session():
    """A session outlives its runs: an agent that is started again remembers."""
    (run,) = replay.read(FILES / "086-five-restarts-in-fifteen-minutes.json")

    assert [(s.id, s.runs, s.calls) for s in run.sessions] == [(run.id, 7, 7)]


def test_times_may_be_seconds_or_iso():
    """Both space out corrections."""
    iso = [one | {"t": f"2025-03-19T16:{one['turn']:02d}:00.5Z"} for one in calls(10)]
    content = json.dumps({"id": "r", "events": iso}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall()])

    assert len(run["corrections"]) == 2
