"""Turns are counted and calls told once, whatever tells of them."""

from otel_watchdog import ModelTurn, Observation, ToolCall, ToolOutcome, ToolResult, UserMessage
from otel_watchdog.reading.histories import JsonHistory
from otel_watchdog.reading.messages import CallPart, Message
from otel_watchdog.spans import ModelReading, RecordedSpan, ToolReading
from otel_watchdog.streams.runs import Run, Session

HISTORY = """[
{"role":"user","parts":[{"type":"text","content":"go"}]},
{"role":"user","parts":[{"type":"text","content":"[watchdog] stop"}]},
%s
]"""


def running():
    """Return a run that started."""
    run = Run(1)
    run.session = Session("s", None, None, "t")
    run.start(0.0)
    return run


def span(start=1.0, end=2.0):
    return RecordedSpan(
        name="x", scope="x", trace_id=1, span_id=1, attributes={}, start=start, end=end
    )


def ask(run, *calls):
    """Let the model ask for calls."""
    message = Message(role="assistant", calls=list(calls))
    return run.model(span(), ModelReading(output=[message]), None)


def end_tool(run, reading, at=None):
    """End a tool span."""
    told: list[Observation] = []
    run.tool(at or span(), reading, run.calls.find(reading), told)
    return told


def test_a_call_without_an_id_is_matched_by_arguments():
    """Of two waiting calls of one tool, that with the span's arguments is meant."""
    run = running()
    ask(run, CallPart(name="read", arguments='{"p":1}'), CallPart(name="read", arguments='{"p":2}'))

    told = end_tool(run, ToolReading("read", arguments='{"p": 2}', result="two"))
    told += end_tool(run, ToolReading("read", arguments="1", result="one"))

    assert [(type(o), o.result) for o in told] == [(ToolResult, "two"), (ToolResult, "one")]


def test_a_call_is_looked_for_in_the_latest_turn():
    """A call that was never answered does not take the result of the next of its tool."""
    run = running()
    ask(run, CallPart(name="read", call_id="c1"))
    ask(run, CallPart(name="read", call_id="c2"))

    (told,) = end_tool(run, ToolReading("read", result="done"))

    assert (told.call_id, told.turn) == ("c2", 2)


def test_a_doubled_span_adds_nothing():
    """An id is told of once."""
    run = running()
    reading = ToolReading("read", "c1", outcome=ToolOutcome.OK, result="done")

    assert [type(o) for o in end_tool(run, reading)] == [ModelTurn, ToolCall, ToolResult]
    assert end_tool(run, reading) == []


def test_a_result_that_the_span_lacks_is_told_from_the_next_input():
    """Where a tool span has no content, the model's input may have it."""
    run = running()
    ask(run, CallPart(name="read", call_id="c1"), CallPart(name="write", call_id="c2"))
    assert end_tool(run, ToolReading("read", "c1")) == []
    assert end_tool(run, ToolReading("write", "c2")) == []
    answer = '{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"done"}]}'

    told = run.model(span(), ModelReading(history=JsonHistory(HISTORY % answer)), None)

    results = [o for o in told if type(o) is ToolResult]
    assert [(o.name, o.result, o.outcome) for o in results] == [
        ("read", "done", ToolOutcome.OK),
        ("write", None, ToolOutcome.UNKNOWN),
    ]


def test_a_result_is_told_at_the_end_at_the_latest():
    """A run does not end with a call that nobody told the end of."""
    run = running()
    ask(run, CallPart(name="read", call_id="c1"))
    end_tool(run, ToolReading("read", "c1"))

    assert [type(o).__name__ for o in run.end(3.0, None)] == ["ToolResult", "RunEnded"]
    assert run.end(3.0, None) == []


def test_results_whose_ids_nobody_knows_are_matched_by_order():
    """Only if they are as many as the turn's waiting calls."""
    first = '{"role":"tool","parts":[{"type":"tool_call_response","id":"x","response":"1"}]}'
    second = first.replace('"x"', '"y"')

    def results(*answers):
        run = running()
        ask(run, CallPart(name="a", call_id="fc_1"), CallPart(name="b", call_id="fc_2"))
        history = JsonHistory(HISTORY % ",".join(answers))
        told = run.model(span(), ModelReading(history=history), None)
        return [o.name for o in told if type(o) is ToolResult]

    assert results(first, second) == ["a", "b"]
    assert results(first) == []


def test_an_error_in_a_tool_message_is_one():
    """Loops that give exceptions to the model as text have no other sign."""
    run = running()
    ask(run, CallPart(name="read", call_id="c1"))
    answer = '{"role":"tool","tool_call_id":"c1","content":"Error: no such file"}'

    told = run.model(span(), ModelReading(history=JsonHistory(HISTORY % answer)), None)

    (result,) = [o for o in told if type(o) is ToolResult]
    assert (result.outcome, result.error) == (ToolOutcome.ERROR, "Error: no such file")


def test_our_own_message_is_no_users():
    """What the watchdog told the agent is not taken for a user's word."""
    run = running()
    history = JsonHistory(HISTORY % '{"role":"user","content":"thanks"}')

    told = run.model(span(), ModelReading(history=history), None)

    assert [o.text for o in told if type(o) is UserMessage] == ["go", "thanks"]


def test_calls_without_model_spans_are_grouped_into_turns():
    """Those that overlap, or are of one step, share a turn."""
    run = running()
    told = end_tool(run, ToolReading("a"), span(1, 3))
    told += end_tool(run, ToolReading("b"), span(2, 4))
    told += end_tool(run, ToolReading("c"), span(5, 6))
    told += end_tool(run, ToolReading("d", step=7), span(8, 9))
    told += end_tool(run, ToolReading("e", step=7), span(10, 11))

    assert [o.turn for o in told if type(o) is ToolCall] == [1, 1, 2, 3, 3]


def test_calls_that_are_remembered_are_bounded():
    """A run of any length needs the same memory, and forgets the oldest."""
    run = running()
    for number in range(1000):
        ask(run, CallPart(name="read", call_id=f"c{number}"))
        end_tool(run, ToolReading("own", f"t{number}", result="x"))

    assert end_tool(run, ToolReading("read", "c999", result="done"))[0].turn == 1000
    assert run.calls.find(ToolReading("read", "c1", result="done")) is None
