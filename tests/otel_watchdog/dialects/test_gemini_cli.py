"""Gemini CLI; real spans are in `test_recordings.py`."""

import json

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import GeminiCLI
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan


def read(operation, scope="gemini-cli", **attributes):
    """Read a span that ended; `__` in a name stands for a dot."""
    named = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    named["gen_ai.conversation.id"] = "talk"
    named["gen_ai.operation.name"] = operation
    span = RecordedSpan(name="x", scope=scope, trace_id=1, span_id=1, attributes=named, end=1.0)
    return GeminiCLI().read(span)


def answered(output, status="success"):
    """Return a tool's answer as it is recorded."""
    part = {"functionResponse": {"id": "c1", "name": "sh", "response": {"output": output}}}
    return json.dumps({"status": status, "response": {"responseParts": [part]}})


def test_what_changes_each_time_is_left_out():
    """Equal results must look equal."""
    told = "Output: no\nExit Code: 101\nProcess Group PGID: 24401\n"

    reading = read(
        "tool_call",
        tool__name="sh",
        tool__call_id="c1",
        input__messages='{"callId":"c1","args":{"command":"make"}}',
        output__messages=answered(told),
    )

    assert (reading.arguments, reading.call_id) == ('{"command":"make"}', "c1")
    assert reading.result == "Output: no\nExit Code: 101\n"
    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "Exit Code: 101")


@pytest.mark.parametrize(
    ("status", "outcome"), [("success", ToolOutcome.OK), ("error", ToolOutcome.ERROR)]
)
def test_a_status_tells_of_a_failure(status, outcome):
    """It is the tool's, not the command's."""
    reading = read("tool_call", tool__name="sh", output__messages=answered("x", status))

    assert reading.outcome is outcome


def test_a_model_call_is_read_from_gemini_contents():
    """The conversation joins the traces."""
    reading = read(
        "llm_call",
        output__messages='[{"role":"model","parts":[{"functionCall":{"id":"c1","name":"sh",'
        '"args":{}}}]}]',
    )

    assert isinstance(reading, ModelReading)
    assert reading.session == "talk"
    assert reading.output is not None
    assert reading.output[0].calls[0].call_id == "c1"


def test_other_spans_are_parts():
    """Spans of other scopes are not read."""
    assert read("schedule_tool_calls") == PartReading(session="talk")
    assert read("tool_call") == PartReading(session="talk")
    assert read("llm_call", scope="x") is None
