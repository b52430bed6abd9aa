"""Haystack; real spans are in `test_recordings.py`."""

import json

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import Haystack
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading, ToolReading

REPLIES = {
    "replies": [
        {
            "role": "assistant",
            "meta": {"model": "m", "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
            "content": [
                {"text": "let me see"},
                {"tool_call": {"tool_name": "read", "arguments": {"p": 1}, "id": "c1"}},
            ],
        }
    ]
}


def read(name, **attributes):
    """Read a span that ended; `__` in a name stands for a dot."""
    named = {f"haystack.{key.replace('__', '.')}": value for key, value in attributes.items()}
    span = RecordedSpan(
        name=name, scope="haystack", trace_id=1, span_id=1, attributes=named, end=1.0
    )
    return Haystack().read(span)


@pytest.mark.parametrize("error", [True, "True"])
def test_an_attribute_is_the_only_sign_of_a_failure(error):
    """The error's text stands in the output; the status is not set."""
    reading = read(
        "haystack.agent.step.tool",
        tool__name="read",
        tool__error=error,
        agent__step__tool__input='{"p": 1}',
        agent__step__tool__output='{"error": "no such file"}',
    )

    assert reading.arguments == '{"p": 1}'
    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "no such file")
    assert reading.error_source == "haystack.tool.error"


def test_an_open_tool_span_says_nothing():
    """It has its attributes when it ends."""
    assert read("haystack.agent.step.tool") == PartReading()


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("haystack.agent.step.llm", {"agent__step__llm__output": json.dumps(REPLIES)}),
        (
            "haystack.component.run",
            {
                "component__type": "OpenAIChatGenerator",
                "component__output": json.dumps(REPLIES),
            },
        ),
    ],
)
def test_a_model_call_is_a_step_or_a_component(name, more):
    """Version 2 has components; model and tokens stand in the reply."""
    reading = read(name, **more)

    assert isinstance(reading, ModelReading)
    assert (reading.model, reading.input_tokens, reading.output_tokens) == ("m", 3, 4)
    assert reading.output is not None
    (call,) = reading.output[0].calls
    assert (call.name, call.arguments, call.call_id) == ("read", '{"p":1}', "c1")


def test_results_are_read_from_the_next_input():
    """Version 2 has one span for all tools of a turn."""
    given = {
        "messages": [
            {
                "role": "tool",
                "content": [
                    {
                        "tool_call_result": {
                            "result": "no",
                            "origin": {"tool_name": "read", "id": "c1"},
                            "error": True,
                        }
                    }
                ],
            }
        ]
    }

    reading = read("haystack.agent.step.llm", agent__step__llm__input=json.dumps(given))

    assert isinstance(reading, ModelReading)
    assert reading.history is not None
    (part,) = reading.history.since(None)[0][0].results
    assert (part.name, part.call_id, part.content, part.is_error) == ("read", "c1", "no", True)


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("haystack.agent.run", RunReading()),
        ("haystack.agent.step", PartReading(step=True)),
        ("haystack.component.run", PartReading()),
        ("haystack.tracing.auto_enable", None),
    ],
)
def test_other_spans_are_runs_and_parts(name, reading):
    """A step holds one turn."""
    assert read(name) == reading
    assert not isinstance(read(name), ToolReading)
