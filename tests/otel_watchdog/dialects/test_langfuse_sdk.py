"""Langfuse's SDK; real spans are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import LangfuseSDK
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading


def read(kind, name="span", **more):
    """Read a span that ended."""
    attributes = {f"langfuse.observation.{key}": value for key, value in more.items()}
    if kind is not None:
        attributes["langfuse.observation.type"] = kind
    span = RecordedSpan(
        name=name, scope="langfuse-sdk", trace_id=1, span_id=1, attributes=attributes, end=1.0
    )
    return LangfuseSDK().read(span)


def test_a_tool_is_called_as_its_span():
    """Arguments come from the decorator's envelope, the id from quoted metadata."""
    reading = read(
        "tool",
        "read",
        **{"input": '{"args": [], "kwargs": {"p": 1}}', "metadata.tool_call_id": '"c1"'},
        output="done",
    )

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"p":1}', "done")
    assert (reading.call_id, reading.outcome) == ("c1", ToolOutcome.OK)


def test_a_level_tells_of_a_failure():
    """The status message is the error's text."""
    reading = read("tool", level="ERROR", status_message="no such file")

    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "no such file")


@pytest.mark.parametrize(
    ("kind", "name", "metadata", "reading"),
    [
        ("agent", "fixer", {}, RunReading("fixer")),
        ("chain", "fixer", {"metadata.lc_agent_name": '"fixer"'}, RunReading("fixer")),
        ("chain", "tools", {"metadata.lc_agent_name": '"fixer"'}, PartReading("fixer")),
        ("span", "work", {}, PartReading()),
        (None, "work", {}, None),
    ],
)
def test_agents_are_runs(kind, name, metadata, reading):
    """A LangGraph agent is a chain that is called as its metadata call the agent."""
    assert read(kind, name, **metadata) == reading


def test_definitions_of_tools_are_no_results():
    """The LangChain handler appends the tools' definitions to the conversation."""
    history = (
        '[{"role":"tool","content":"done","tool_call_id":"c1"},'
        '{"role":"tool","content":{"type":"function","function":{"name":"read"}}}]'
    )
    answer = '{"role":"assistant","content":"hi","tool_calls":[{"name":"read","id":"c2"}]}'

    reading = read("generation", input=history, output=answer)

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert reading.output[0].calls[0].call_id == "c2"
    assert reading.history is not None
    messages, _ = reading.history.since(None)
    assert [part.call_id for message in messages for part in message.results] == ["c1"]
