"""Claude Code; real spans and log records are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import ClaudeCode
from otel_watchdog.spans import (
    LogRecord,
    ModelReading,
    PartReading,
    RecordedSpan,
    RunReading,
    SpanEvent,
)

SCOPE = "com.anthropic.claude_code.tracing"


def read(kind, events=(), scope=SCOPE, **attributes):
    """Read a span that ended."""
    span = RecordedSpan(
        name=f"claude_code.{kind}",
        scope=scope,
        trace_id=1,
        span_id=1,
        attributes={"session.id": "talk"} | attributes,
        events=events,
        end=1.0,
    )
    return ClaudeCode().read(span)


def read_log(name, scope=SCOPE, **attributes):
    """Read a log record."""
    return ClaudeCode().read_log(
        LogRecord(name=name, scope=scope, attributes={"session.id": "talk"} | attributes)
    )


@pytest.mark.parametrize("key", ["content", "output"])
def test_a_tools_result_stands_in_an_event(key):
    """Its arguments come in a log record."""
    event = SpanEvent("tool.output", {key: "done"})

    reading = read("tool", [event], tool_name="Bash", tool_use_id="c1")

    assert (reading.name, reading.call_id, reading.result) == ("Bash", "c1", "done")
    assert reading.arguments is None
    assert reading.partial


@pytest.mark.parametrize(
    ("success", "outcome"),
    [(True, ToolOutcome.OK), (False, ToolOutcome.ERROR), (None, ToolOutcome.UNKNOWN)],
)
def test_the_execution_tells_how_a_call_ended(success, outcome):
    """It has no name of its own: it is part of the tool's span."""
    reading = read("tool.execution", success=success, error=None if success else "no")

    assert (reading.name, reading.outcome) == ("", outcome)


def test_a_log_record_has_the_arguments():
    """And whether the call failed, as a text."""
    reading = read_log(
        "tool_result", tool_name="Bash", tool_use_id="c1", tool_input='{"p":1}', success="false"
    )

    assert (reading.name, reading.arguments, reading.call_id) == ("Bash", '{"p":1}', "c1")
    assert (reading.outcome, reading.error_source) == (ToolOutcome.ERROR, "success")


def test_a_model_call_has_its_tokens():
    """From a span or from a log record; what was said is in neither."""
    tokens = {"model": "m", "input_tokens": 3, "output_tokens": 4}

    for reading in (read("llm_request", **tokens), read_log("api_request", **tokens)):
        assert isinstance(reading, ModelReading)
        assert (reading.model, reading.input_tokens, reading.output_tokens) == ("m", 3, 4)
        assert reading.output is None


def test_other_spans_and_records_add_nothing():
    """An interaction is a run."""
    assert read("interaction") == RunReading(session="talk")
    assert read("tool.blocked_on_user") == PartReading(session="talk")
    assert read("tool") == PartReading(session="talk")
    assert read("tool", scope="x") is None
    assert read_log("tool_decision") is None
    assert read_log("tool_result", scope="x") is None
