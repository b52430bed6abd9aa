"""LangSmith; real spans are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import LangSmith
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading, SpanEvent


def read(kind, name="span", events=(), **attributes):
    """Read a span that ended; `__` in a name stands for a dot."""
    named = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    if kind is not None:
        named["langsmith.span.kind"] = kind
        named["langsmith.metadata.lc_agent_name"] = "fixer"
        named["langsmith.metadata.thread_id"] = "talk"
    span = RecordedSpan(
        name=name, scope="langsmith", trace_id=1, span_id=1, attributes=named, end=1.0
    )
    span.events = events
    return LangSmith().read(span)


def test_a_tools_answer_is_taken_out_of_its_message():
    """Arguments are plain."""
    reading = read(
        "tool",
        "read",
        prompt='{"p":1}',
        completion='{"output":{"content":"done","type":"tool","tool_call_id":"c1"}}',
    )

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"p":1}', "done")
    assert (reading.call_id, reading.agent, reading.session) == ("c1", "fixer", "talk")


def test_a_failure_has_its_text_without_the_traceback():
    """An empty object stands where there is no result."""
    told = "Boom('no')Traceback (most recent call last):\n\n  File ..."
    event = SpanEvent("exception", {"exception.message": told})

    reading = read("tool", events=[event], completion="{}")

    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "Boom('no')")
    assert reading.result is None


def test_a_model_call_is_read_from_serialised_messages():
    """LangChain's constructors are seen through."""
    answer = (
        '{"generations":[[{"text":"x","message":{"lc":1,"id":["AIMessage"],"kwargs":{"type":"ai",'
        '"content":"x","tool_calls":[{"name":"read","args":{"p":1},"id":"c1"}]}}}]]}'
    )
    given = (
        '{"messages":[[{"lc":1,"kwargs":{"type":"tool","content":"done","tool_call_id":"c0"}}]]}'
    )

    reading = read("llm", prompt=given, completion=answer)

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert reading.output[0].calls[0].call_id == "c1"
    assert reading.history is not None
    (part,) = reading.history.since(None)[0][0].results
    assert (part.call_id, part.content) == ("c0", "done")


@pytest.mark.parametrize(
    ("kind", "name", "reading"),
    [
        ("chain", "fixer", RunReading("fixer", "talk")),
        ("chain", "tools", PartReading("fixer", "talk")),
        (None, "x", None),
    ],
)
def test_a_chain_that_is_called_as_its_agent_is_the_run(kind, name, reading):
    """What has no kind is another dialect's."""
    assert read(kind, name) == reading
