"""MLflow; real spans are in `test_recordings.py`."""

import json

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import Mlflow
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading


def read(kind, name="span", **values):
    """Read a span that ended; all of its values are JSON."""
    attributes = {f"mlflow.{key}": json.dumps(value) for key, value in values.items()}
    for plain in ("metadata", "tool_call_id"):
        if f"mlflow.{plain}" in attributes:
            attributes[plain] = attributes.pop(f"mlflow.{plain}")
    if kind is not None:
        attributes["mlflow.spanType"] = json.dumps(kind)
    span = RecordedSpan(
        name=name, scope="mlflow.tracing", trace_id=1, span_id=1, attributes=attributes, end=1.0
    )
    return Mlflow().read(span)


def test_a_tools_values_are_taken_out_of_their_quotes():
    """A text is JSON in an attribute."""
    reading = read(
        "TOOL", spanFunctionName="read", spanInputs={"p": 1}, spanOutputs="done", tool_call_id="c1"
    )

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"p": 1}', "done")
    assert (reading.call_id, reading.outcome) == ("c1", ToolOutcome.OK)


def test_langchains_metadata_name_agent_and_thread():
    """Other sessions are metadata of MLflow's trace, which no span carries."""
    metadata = {"lc_agent_name": "fixer", "thread_id": "talk"}

    assert read("CHAIN", "fixer", metadata=metadata) == RunReading("fixer", "talk")
    assert read("CHAIN", "tools", metadata=metadata) == PartReading("fixer", "talk")


@pytest.mark.parametrize(
    ("kind", "reading"), [("AGENT", RunReading("span")), ("CHAIN", PartReading()), (None, None)]
)
def test_an_agent_is_called_as_its_span(kind, reading):
    """What has no type is another dialect's."""
    assert read(kind) == reading


def test_a_model_call_is_a_chat_completion():
    """Answer, model and tokens are those of the client."""
    call = {"id": "c1", "function": {"name": "read", "arguments": "{}"}}
    answer = {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}

    reading = read(
        "CHAT_MODEL",
        spanInputs={"model": "m", "messages": [{"role": "user", "content": "hi"}]},
        spanOutputs=answer,
        **{"llm.model": "m", "chat.tokenUsage": {"input_tokens": 3, "output_tokens": 4}},
    )

    assert isinstance(reading, ModelReading)
    assert (reading.model, reading.input_tokens, reading.output_tokens) == ("m", 3, 4)
    assert reading.output is not None
    assert reading.output[0].calls[0].call_id == "c1"
    assert reading.history is not None
    assert reading.history.since(None)[0][0].text == "hi"
