"""Logfire's spans of openai-agents; real spans are in `test_recordings.py`."""

import json

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import Logfire
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading


def read(name, /, scope="logfire.openai_agents", **attributes):
    """Read a span that ended."""
    span = RecordedSpan(
        name=name, scope=scope, trace_id=1, span_id=1, attributes=attributes, end=1.0
    )
    return Logfire().read(span)


def test_a_tool_has_plain_names():
    """The span's name is a template."""
    reading = read("Function: {name}", name="read", input='{"p": 1}', output="done")

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"p": 1}', "done")
    assert reading.outcome is ToolOutcome.OK


@pytest.mark.parametrize(
    ("told", "text"),
    [("no such file", "no such file"), ("Error details are redacted.", None)],
)
def test_a_failure_has_the_text_that_the_sdk_gave(told, text):
    """By default there is none: different failures must not look the same."""
    error = json.dumps({"message": "Error running tool", "data": {"error": told}})

    reading = read("Function: {name}", name="read", error=error)

    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, text)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        (
            "Responses API with {gen_ai.request.model!r}",
            {
                "response": '{"output":[{"type":"function_call","call_id":"c1","name":"read",'
                '"arguments":"{}"}]}',
                "raw_input": '[{"type":"function_call_output","call_id":"c0","output":"done"}]',
            },
        ),
        (
            "Chat completion with {gen_ai.request.model!r}",
            {
                "output": '[{"role":"assistant","tool_calls":[{"id":"c1","function":'
                '{"name":"read","arguments":"{}"}}]}]',
                "input": '[{"role":"tool","tool_call_id":"c0","content":"done"}]',
            },
        ),
    ],
)
def test_a_model_call_is_of_either_api(name, more):
    """Answer and input have other names in each."""
    reading = read(name, **more)

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert [call.call_id for message in reading.output for call in message.calls] == ["c1"]
    assert reading.history is not None
    assert reading.history.since(None)[0][0].results[0].call_id == "c0"


@pytest.mark.parametrize(
    ("name", "more", "reading"),
    [
        ("Agent run: {name!r}", {"name": "fixer"}, RunReading("fixer")),
        ("Turn {turn} for agent fixer", {"agent_name": "fixer"}, PartReading("fixer", step=True)),
        ("OpenAI Agents trace: {name}", {"group_id": "talk"}, PartReading(session="talk")),
        ("Function: {name}", {}, PartReading()),
    ],
)
def test_agents_are_runs_and_turns_steps(name, more, reading):
    """The trace's group is the session."""
    assert read(name, **more) == reading


def test_other_scopes_are_not_read():
    """What Logfire adds to pydantic-ai's spans is read with those."""
    assert read("Function: {name}", scope="logfire", name="read") is None
