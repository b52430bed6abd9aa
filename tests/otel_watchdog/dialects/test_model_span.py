"""Model calls that no other dialect reads."""

import pytest

from otel_watchdog.dialects import ModelSpan
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading


def read(attributes, parent_id=None):
    """Read a span that ended."""
    span = RecordedSpan(name="x", scope="x", trace_id=1, span_id=1, attributes=attributes, end=1.0)
    span.parent_id = parent_id
    return ModelSpan().read(span)


@pytest.mark.parametrize("sign", ["gen_ai.request.model", "gen_ai.output.messages"])
def test_a_model_call_is_known_by_what_it_carries(sign):
    """An operation's name is not needed."""
    assert isinstance(read({sign: "x"}), ModelReading)


@pytest.mark.parametrize("operation", ["embeddings", "tool_call"])
def test_an_operation_that_nobody_reads_is_no_model_call(operation):
    """What is named is not guessed."""
    assert read({"gen_ai.operation.name": operation, "gen_ai.output.messages": "x"}) is None


def test_a_root_that_names_its_session_is_its_run():
    """Below the root the session is only noted: some put it on every span."""
    assert read({"session.id": "talk"}) == RunReading(session="talk")
    assert read({"session.id": "talk"}, parent_id=7) == PartReading(session="talk")
    assert read({"http.request.method": "GET"}) is None
