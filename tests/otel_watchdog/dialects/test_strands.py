"""Strands Agents; real spans are in `test_recordings.py`."""

import json

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import Strands
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading, SpanEvent


def read(operation, name="span", events=(), scope="strands.telemetry.tracer", **attributes):
    """Read a span that ended; `__` in a name stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    if operation is not None:
        named["gen_ai.operation.name"] = operation
    span = RecordedSpan(
        name=name, scope=scope, trace_id=1, span_id=1, attributes=named, events=events, end=1.0
    )
    return Strands().read(span)


def test_a_tools_content_stands_in_events():
    """Arguments are a message to the tool, the result is its choice."""
    events = [
        SpanEvent("gen_ai.tool.message", {"content": '{"p": 1}', "id": "c1"}),
        SpanEvent("gen_ai.choice", {"message": '[{"text": "done"}]', "id": "c1"}),
    ]

    reading = read("execute_tool", "execute_tool read", events, gen_ai__tool__call__id="c1")

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"p": 1}', "done")
    assert (reading.call_id, reading.outcome) == ("c1", ToolOutcome.OK)


def test_the_latest_schema_has_one_event_of_details():
    """Arguments are an attribute too; the result stands in a message's part."""
    answer = [{"role": "tool", "parts": [{"type": "tool_call_response", "response": "done"}]}]
    event = SpanEvent(
        "gen_ai.client.inference.operation.details",
        {"gen_ai.output.messages": json.dumps(answer)},
    )

    reading = read("execute_tool", events=[event], gen_ai__tool__call__arguments='{"p":1}')

    assert (reading.arguments, reading.result) == ('{"p":1}', "done")


def test_a_status_attribute_tells_of_a_failure():
    """Until version 1.33 the span's status was OK."""
    assert read("execute_tool", gen_ai__tool__status="error").outcome is ToolOutcome.ERROR


def test_a_model_call_is_read_from_its_events():
    """The answer is the choice; what is new of the conversation follows the answer before."""
    asked = '[{"text": "go on"}, {"toolUse": {"toolUseId": "c2", "name": "read", "input": {}}}]'
    given = '[{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no"}]}}]'
    events = [
        SpanEvent("gen_ai.user.message", {"content": '[{"text": "hi"}]'}),
        SpanEvent("gen_ai.assistant.message", {"content": '[{"text": "let me see"}]'}),
        SpanEvent("gen_ai.tool.message", {"content": given}),
        SpanEvent("gen_ai.choice", {"message": asked}),
    ]

    reading = read("chat", events=events)

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert [(call.name, call.call_id) for call in reading.output[0].calls] == [("read", "c2")]
    assert reading.history is not None
    messages, _ = reading.history.since(None)
    results = [part for message in messages for part in message.results]
    assert [(part.call_id, part.content, part.is_error) for part in results] == [("c1", "no", True)]


@pytest.mark.parametrize(
    ("operation", "name", "more", "reading"),
    [
        ("invoke_agent", "x", {"gen_ai__agent__name": "fixer"}, RunReading("fixer")),
        (None, "invoke_agent fixer", {}, RunReading("fixer")),
        ("execute_event_loop_cycle", "x", {"session__id": "s"}, PartReading(session="s")),
    ],
)
def test_agents_are_runs_and_cycles_parts(operation, name, more, reading):
    """A span that has its attributes later is known by its name."""
    assert read(operation, name, **more) == reading


def test_what_others_write_or_rewrote_is_not_read():
    """A processor may have made attributes of the events."""
    assert read("chat", scope="x") is None
    assert read("chat", openinference__span__kind="LLM") is None
