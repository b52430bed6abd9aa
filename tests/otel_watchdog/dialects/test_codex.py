"""Codex CLI; real spans and log records are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import Codex
from otel_watchdog.spans import LogRecord, ModelReading, PartReading, RecordedSpan


def read(name, scope="codex_cli", **attributes):
    """Read a span that ended; `__` in a name stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    span = RecordedSpan(name=name, scope=scope, trace_id=1, span_id=1, attributes=named, end=1.0)
    return Codex().read(span)


def read_log(name, scope="codex_otel.log_only", **attributes):
    """Read a log record."""
    named = {"conversation.id": "talk"} | attributes
    return Codex().read_log(LogRecord(name=name, scope=scope, attributes=named))


def test_what_changes_each_time_is_left_out():
    """A failed command is a success with an exit code in its text."""
    output = "Chunk ID: d44b83\nWall time: 0.1 seconds\nProcess exited with code 101\nOutput:\nno"

    reading = read_log(
        "codex.tool_result",
        tool_name="exec_command",
        call_id="c1",
        arguments='{"cmd": "make"}',
        output=output,
        success="true",
    )

    assert (reading.arguments, reading.call_id) == ('{"cmd": "make"}', "c1")
    assert reading.result == "Process exited with code 101\nOutput:\nno"
    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "Process exited with code 101")


def test_a_tool_that_failed_says_so():
    """Whatever it printed."""
    reading = read_log("codex.tool_result", tool_name="x", output="no", success="false")

    assert (reading.outcome, reading.error_source) == (ToolOutcome.ERROR, "success")


@pytest.mark.parametrize("success", [[], {}, [False], None])
def test_what_is_no_flag_says_nothing(success):
    """Records may hold anything: nothing raises, nothing failed."""
    reading = read_log("codex.tool_result", tool_name="x", output="done", success=success)

    assert (reading.outcome, reading.error_source) == (ToolOutcome.OK, None)


def test_a_dispatched_tool_waits_for_its_log_record():
    """The span has name and id."""
    reading = read("exec_command", codex__tool__phase="dispatch", call_id="c1")

    assert (reading.name, reading.call_id, reading.partial) == ("exec_command", "c1", True)


@pytest.mark.parametrize(
    "reading", [read("codex.sampling", conversation__id="talk"), read_log("codex.api_request")]
)
def test_a_model_call_is_a_turn(reading):
    """What was said is in neither."""
    assert isinstance(reading, ModelReading)
    assert reading.session == "talk"


def test_other_spans_and_records_add_nothing():
    """Most of some 1,500 spans are internal."""
    assert read("run_turn", conversation__id="talk") == PartReading(session="talk")
    assert read("poll") is None
    assert read("codex.sampling", scope="x") is None
    assert read_log("codex.sse_event") is None
    assert read_log("codex.tool_result", scope="x") is None
