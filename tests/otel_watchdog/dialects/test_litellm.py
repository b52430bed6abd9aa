"""LiteLLM; real spans are in `test_recordings.py`."""

from otel_watchdog.dialects import LiteLLM
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading

CHOICES = (
    "[{'index': 0, 'message': {'role': 'assistant', 'content': 'x', 'tool_calls': [{'id': 'c1', "
    "'function': {'arguments': '{}', 'name': 'read'}}]}}]"
)


def read(name, attributes, scope="litellm", parent_id=None):
    """Read a span that ended."""
    span = RecordedSpan(
        name=name, scope=scope, trace_id=1, span_id=1, attributes=attributes, end=1.0
    )
    span.parent_id = parent_id
    return LiteLLM().read(span)


def test_a_model_call_is_the_providers_raw_request():
    """Its values are Python reprs."""
    given = "[{'role': 'tool', 'tool_call_id': 'c0', 'content': 'done'}]"

    reading = read(
        "raw_gen_ai_request", {"llm.openai.choices": CHOICES, "llm.openai.messages": given}
    )

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert reading.output[0].calls[0].call_id == "c1"
    assert reading.history is not None
    assert reading.history.since(None)[0][0].results[0].content == "done"


def test_a_request_of_its_own_has_calls_without_ids():
    """Without a current span each model call is a root."""
    reading = read(
        "litellm_request",
        {
            "gen_ai.completion.0.function_call.name": "read",
            "gen_ai.completion.0.function_call.arguments": "{}",
        },
    )

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert [(c.name, c.call_id) for c in reading.output[0].calls] == [("read", None)]


def test_a_span_that_was_written_onto_is_no_model_call():
    """It is the caller's own, with the attributes of the last call."""
    attributes = {"litellm.call_id": "x", "gen_ai.operation.name": "chat", "session.id": "talk"}

    assert read("my run", attributes, scope="app") == RunReading(session="talk")
    assert read("my step", attributes, scope="app", parent_id=7) == PartReading(session="talk")
    assert read("other", {}, scope="app") is None
