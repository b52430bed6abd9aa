"""The GenAI conventions; real spans are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import GenAI
from otel_watchdog.spans import (
    ModelReading,
    PartReading,
    RecordedSpan,
    RunReading,
    SpanEvent,
    ToolReading,
)


def read(attributes, name="span", **more):
    """Read a span that ended."""
    span = RecordedSpan(name=name, scope="x", trace_id=1, span_id=1, attributes=attributes, end=1.0)
    for field, value in more.items():
        setattr(span, field, value)
    return GenAI().read(span)


TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
        ("tool_arguments", "tool_response"),
        ("gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"),
    ],
)
def test_arguments_and_result_have_older_spellings(arguments, result):
    """pydantic-ai before version 3 and ADK before version 2 spelled them in their own way."""
    reading = read(TOOL | {arguments: '{"path":"a"}', result: "done"})

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"path":"a"}', "done")
    assert reading.outcome is ToolOutcome.OK


def test_a_failure_is_read_from_the_exception():
    """The exception's message is the error's text, before the status."""
    event = SpanEvent("exception", {"exception.message": "no such file"})

    reading = read(TOOL, events=[event], is_error=True, status_text="ValueError")

    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "no such file")


@pytest.mark.parametrize("text", ["_OTHER", "TOOL_ERROR", "Error details are redacted."])
def test_a_failure_without_a_text_has_none(text):
    """What stands for any failure does not make two failures look the same."""
    reading = read(TOOL, is_error=True, status_text=text)

    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, None)


def test_what_is_not_in_the_span_is_unknown():
    """Without content nothing is known of a call but its name and id."""
    reading = read(TOOL | {"gen_ai.tool.call.id": "c1"})

    assert reading == ToolReading("read", "c1")


def test_an_id_that_is_none_is_unknown():
    """ADK writes a text where it has no id: two such calls are not one."""
    assert read(TOOL | {"gen_ai.tool.call.id": "<not specified>"}).call_id is None


def test_merged_tools_are_no_tool():
    """ADK adds a span after tools that ran in parallel."""
    assert isinstance(read(TOOL | {"gen_ai.tool.name": "(merged tools)"}), PartReading)


def test_a_model_call_has_its_answer_and_tokens():
    """Messages, model and tokens are read in any spelling."""
    answer = '[{"role":"assistant","parts":[{"type":"text","content":"hi"}]}]'

    reading = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.output.messages": answer,
            "gen_ai.usage.prompt_tokens": 3,
            "gen_ai.usage.output_tokens": 4,
        }
    )

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert reading.output[0].text == "hi"
    assert (reading.model, reading.input_tokens, reading.output_tokens) == ("m", 3, 4)


def test_an_agent_span_is_a_run():
    """Agent and conversation are those of the run."""
    reading = read(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "fixer",
            "gen_ai.conversation.id": "talk",
        }
    )

    assert reading == RunReading("fixer", "talk")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("execute_tool read", ToolReading),
        ("execute_tool (merged)", PartReading),
        ("invoke_agent fixer", RunReading),
        ("something else", type(None)),
    ],
)
def test_an_open_span_without_attributes_is_read_by_name(name, kind):
    """ADK and Strands set attributes at the end; what the name says is final at the start."""
    assert type(read({}, name, end=None)) is kind
    assert read({}, name) is None


def test_other_operations_are_not_read():
    """Embeddings are no turn."""
    assert read({"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m"}) is None
