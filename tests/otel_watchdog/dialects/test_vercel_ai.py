"""Vercel's AI SDK; real spans are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import VercelAI
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading


def read(operation, **attributes):
    """Read a span that ended; `__` in a name stands for a dot."""
    named = {f"ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    if operation is not None:
        named["ai.operationId"] = operation
    span = RecordedSpan(name="span", scope="ai", trace_id=1, span_id=1, attributes=named, end=1.0)
    return VercelAI().read(span)


@pytest.mark.parametrize(("given", "got"), [("args", "result"), ("input", "output")])
def test_a_tools_result_is_taken_out_of_its_quotes(given, got):
    """Versions differ in what they call arguments and result."""
    reading = read(
        "ai.toolCall",
        toolCall__name="read",
        toolCall__id="c1",
        **{f"toolCall__{given}": '{"p":1}', f"toolCall__{got}": '"done"'},
    )

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"p":1}', "done")
    assert (reading.call_id, reading.outcome) == ("c1", ToolOutcome.OK)


@pytest.mark.parametrize("operation", ["ai.generateText.doGenerate", "ai.streamText.doStream"])
def test_a_model_call_is_the_inner_operation(operation):
    """Text and calls stand in attributes of their own."""
    reading = read(
        operation,
        response__text="let me see",
        response__toolCalls='[{"toolCallId":"c1","toolName":"read","input":{"p":1}}]',
        prompt__messages='[{"role":"tool","content":[{"type":"tool-result","toolCallId":"c0",'
        '"toolName":"read","output":{"type":"error-text","value":"no"}}]}]',
    )

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    (call,) = reading.output[0].calls
    assert (call.name, call.arguments, call.call_id) == ("read", '{"p":1}', "c1")
    assert reading.history is not None
    (part,) = reading.history.since(None)[0][0].results
    assert (part.call_id, part.content, part.is_error) == ("c0", "no", True)


def test_without_content_a_model_call_is_a_turn():
    """What it said is unknown."""
    reading = read("ai.generateText.doGenerate")

    assert isinstance(reading, ModelReading)
    assert reading.output is None


@pytest.mark.parametrize(
    ("operation", "reading"),
    [
        ("ai.generateText", RunReading("fixer", "talk")),
        ("ai.embedMany", PartReading("fixer", "talk")),
        (None, None),
    ],
)
def test_the_functions_id_is_the_agent(operation, reading):
    """The session is one of the application's metadata, by its usual names."""
    more = {"telemetry__functionId": "fixer", "telemetry__metadata__sessionId": "talk"}

    assert read(operation, **more) == reading
