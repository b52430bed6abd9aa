"""OpenInference; real spans are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import OpenInference
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading, ToolReading


def read(kind, name="span", scope="openinference.instrumentation.x", **attributes):
    """Read a span that ended; `__` in a name stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    if kind is not None:
        named["openinference.span.kind"] = kind
    span = RecordedSpan(name=name, scope=scope, trace_id=1, span_id=1, attributes=named, end=1.0)
    return OpenInference().read(span)


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ('{"path": "a"}', '{"path": "a"}'),
        ('{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"p": 1}}', '{"p":1}'),
        ('{"kwargs": {"p": 1}}', '{"p":1}'),
        ("main.go", '"main.go"'),
        ("__REDACTED__", None),
    ],
)
def test_arguments_are_taken_out_of_their_wrapping(given, arguments):
    """One call has one form, whoever recorded it."""
    reading = read("TOOL", tool__name="read", input__value=given)

    assert reading.arguments == arguments


def test_a_tool_message_tells_result_and_id():
    """LangChain's tools give back a serialised message."""
    message = '{"type":"tool","data":{"content":"done","tool_call_id":"c1","status":"error"}}'

    reading = read("TOOL", tool__name="read", output__value=message)

    assert (reading.result, reading.call_id) == ("done", "c1")
    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "done")


def test_parameters_are_arguments_or_a_schema():
    """Where there is no input, `tool.parameters` are read, unless they are the tool's schema."""
    schema = '{"properties": {"path": {"type": "string"}}}'

    assert read("TOOL", tool__name="read", tool__parameters='{"p":1}').arguments == '{"p":1}'
    assert read("TOOL", tool__name="read", tool__parameters=schema).arguments is None


def test_a_tool_without_a_name_is_called_as_its_span():
    """DSPy's spans are called as the method."""
    assert read("TOOL", "read.__call__").name == "read"


def test_a_handoff_is_no_tool_call():
    """openai-agents records a hand-off as a tool's span."""
    assert isinstance(read("TOOL", "handoff to fixer"), PartReading)


@pytest.mark.parametrize(
    ("name", "attributes", "agent"),
    [
        ("fixer.run", {}, "fixer"),
        ("fixer._execute_core", {}, "fixer"),
        ("x", {"graph__node__id": "fixer"}, "fixer"),
        ("x", {"agent__name": "fixer", "graph__node__id": "17"}, "fixer"),
        ("x", {}, None),
    ],
)
def test_an_agent_has_its_name_from_where_it_stands(name, attributes, agent):
    """Attributes go before the span's name."""
    assert read("AGENT", name, **attributes) == RunReading(agent)


def test_a_chain_that_is_called_as_its_agent_is_the_run():
    """LangGraph has no AGENT spans; every span's metadata name the agent."""
    metadata = '{"lc_agent_name": "fixer"}'

    assert read("CHAIN", "fixer", metadata=metadata) == RunReading("fixer")
    assert read("CHAIN", "tools", metadata=metadata) == PartReading("fixer")
    assert read("CHAIN", "tools", metadata="no JSON lc_agent_name") == PartReading()


@pytest.mark.parametrize(("name", "step"), [("Step 3", True), ("turn", True), ("Step up", False)])
def test_a_step_holds_one_turn(name, step):
    """smolagents and openai-agents have a span for each turn."""
    assert read("CHAIN", name) == PartReading(step=step)


def test_a_model_call_is_read_from_flattened_messages():
    """Text blocks, tool calls and tool messages are read; indices may be missing."""
    out, given = "llm__output_messages__1__message", "llm__input_messages__1__message"
    reading = read(
        "LLM",
        **{
            f"{out}__role": "assistant",
            f"{out}__contents__0__message_content__text": "let me see",
            f"{out}__tool_calls__1__tool_call__id": "c1",
            f"{out}__tool_calls__1__tool_call__function__name": "read",
            f"{out}__tool_calls__1__tool_call__function__arguments": "{}",
            f"{given}__role": "tool",
            f"{given}__tool_call_id": "c0",
            f"{given}__content": "done",
        },
    )

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert reading.output[0].text == "let me see"
    assert [(call.name, call.call_id) for call in reading.output[0].calls] == [("read", "c1")]
    assert reading.history is not None
    assert reading.history.since(None)[0][0].results[0].content == "done"


def test_a_preparation_is_no_model_call():
    """LlamaIndex has two LLM spans a turn."""
    assert isinstance(read("LLM", "OpenAI._prepare_chat_with_tools"), PartReading)


def test_other_spans_are_not_read():
    """Without a kind a span is another dialect's."""
    assert read(None) is None
    assert type(read("TOOL")) is ToolReading
