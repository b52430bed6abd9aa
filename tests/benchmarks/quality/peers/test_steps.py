"""How recorded events become the steps that a guard in the agent's loop would see."""

from benchmarks.quality.peers.steps import Call, Message, Result, steps_of


def event(kind, **more):
    """Return an event of the first turn."""
    return {"kind": kind, "turn": 1, **more}


def test_results_find_their_calls_by_id():
    """In a batch, results come in any order."""
    steps = steps_of(
        [
            event("tool_call", name="read", args={"n": 1}, call_id="a"),
            event("tool_call", name="read", args={"n": 2}, call_id="b"),
            event("tool_result", name="read", result="two", call_id="b"),
            event("tool_result", name="read", result="one", call_id="a"),
        ]
    )

    results = [(one.index, one.call.args, one.text) for one in steps if isinstance(one, Result)]
    assert results == [(2, {"n": 2}, "two"), (3, {"n": 1}, "one")]


def test_without_ids_a_result_closes_the_oldest_call_of_its_tool_and_agent():
    """Who asks another agent waits, while that one calls tools."""
    steps = steps_of(
        [
            event("tool_call", name="ask", agent="lead", args={}),
            event("tool_call", name="ask", agent="helper", args={"n": 1}),
            event("tool_result", name="ask", agent="helper", result="inner"),
            event("tool_result", name="ask", agent="lead", result="outer"),
        ]
    )

    closed = [(one.text, one.call.agent) for one in steps if isinstance(one, Result)]
    assert closed == [("inner", "helper"), ("outer", "lead")]


def test_a_call_without_result_ends_at_once_with_an_empty_one():
    """A guard that wants pairs still hears of it, where the call stands."""
    steps = steps_of([event("tool_call", name="finish", args=None), event("assistant_text")])

    assert [type(one) for one in steps[:2]] == [Call, Result]
    results = [one for one in steps if isinstance(one, Result)]
    assert [(one.index, one.text, one.failed) for one in results] == [(0, "", None)]


def test_what_is_said_before_a_call_is_its_thought_and_no_message():
    """Frameworks put text beside calls into the same message of the model."""
    steps = steps_of(
        [
            event("assistant_text", result="Let me see."),
            event("tool_call", name="look", args={}),
            {"kind": "assistant_text", "turn": 2, "result": "Done."},
            {"kind": "user_text", "turn": 2, "result": "Thanks."},
        ]
    )

    assert [one.thought for one in steps if isinstance(one, Call)] == ["Let me see."]
    spoken = [(one.text, one.is_from_user) for one in steps if isinstance(one, Message)]
    assert spoken == [("Done.", False), ("Thanks.", True)]


def test_clocks_are_seconds_or_dates_or_unknown():
    """Recordings write all three."""
    calls = [event("tool_call", name="x", args={}, t=t) for t in (3, "2025-03-19T16:41:49Z", "?")]

    found = [one.seconds for one in steps_of(calls) if isinstance(one, Call)]

    assert found == [3, 1742402509.0, None]
