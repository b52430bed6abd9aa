"""Google ADK 1; real spans are in `test_recordings.py`."""

import pytest

from otel_watchdog.dialects import GoogleADK
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan


def read(name, **attributes):
    """Read a span that ended; names are ADK's own."""
    named = {f"gcp.vertex.agent.{key}": value for key, value in attributes.items()}
    span = RecordedSpan(
        name=name, scope="gcp.vertex.agent", trace_id=1, span_id=1, attributes=named, end=1.0
    )
    return GoogleADK().read(span)


def test_a_model_call_is_read_from_gemini_contents():
    """Calls and results are parts without a type."""
    reading = read(
        "call_llm",
        llm_request='{"model":"m","contents":[{"role":"user","parts":[{"function_response":'
        '{"id":"c0","name":"read","response":{"result":"done"}}}]}]}',
        llm_response='{"content":{"role":"model","parts":[{"text":"x"},{"function_call":'
        '{"id":"c1","name":"read","args":{"p":1}}}]}}',
        session_id="talk",
    )

    assert isinstance(reading, ModelReading)
    assert reading.session == "talk"
    assert reading.output is not None
    (call,) = reading.output[0].calls
    assert (call.name, call.arguments, call.call_id) == ("read", '{"p":1}', "c1")
    assert reading.history is not None
    (part,) = reading.history.since(None)[0][0].results
    assert (part.call_id, part.content) == ("c0", "done")


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("invocation", PartReading()),
        ("execute_tool (merged)", PartReading()),
        ("execute_tool read", None),
        ("generate_content m", None),
    ],
)
def test_other_spans_follow_the_conventions(name, reading):
    """The span after parallel tools is none of them."""
    assert read(name) == reading
