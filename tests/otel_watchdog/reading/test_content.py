"""Texts, placeholders, wrappings and outcomes."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.reading.content import known, parsed, text_of
from otel_watchdog.reading.outcomes import error_in, outcome_of
from otel_watchdog.reading.wrappings import Answer, answer_of, request_of


@pytest.mark.parametrize("text", ["__REDACTED__", "<REDACTED>", "[Scrubbed due to 'auth']"])
def test_a_placeholder_is_unknown(text):
    """What was taken out equals nothing."""
    assert known(text) is None
    assert answer_of(text) == Answer()
    assert request_of(text).arguments is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ('"quoted"', "quoted"),
        ('[{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]', "one\ntwo"),
        ('{"result": "done"}', "done"),
        ('{"result": null}', "null"),
        ('{"result": 1, "rows": 2}', '{"result": 1, "rows": 2}'),
        ('{"blocks": [{"text": "done"}], "raw_output": "done", "is_error": false}', "done"),
        ('{"content": "done", "tool_call_id": "c"}', "done"),
        ("status='success' result='done' error=None updated_session_state=None", "done"),
        ("status='odd'", "status='odd'"),
        ('{"tool_call_id": "c"', '{"tool_call_id": "c"'),
        ([{"type": "text", "text": "done"}], "done"),
        ({"a": 1}, '{"a":1}'),
    ],
)
def test_a_result_is_taken_out_of_its_wrapping(value, text):
    """What is not known to be a wrapping stays as it is."""
    assert answer_of(value).text == text


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ('{"args": ["a"], "kwargs": {}}', '["a"]'),
        ('{"kwargs": {"a": 1}, "path": "x"}', '{"kwargs": {"a": 1}, "path": "x"}'),
        ("{'a': None}", '{"a":null}'),
        ("{'a': ", "{'a': "),
        ("3", "3"),
        ("two words", '"two words"'),
        ("true story", '"true story"'),
    ],
)
def test_arguments_are_json(value, arguments):
    """A tool's own arguments are not taken for an envelope."""
    assert request_of(value).arguments == arguments


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ('{"error": "no"}', "no"),
        ("{'error': 'no'}", "no"),
        ('{"error": {"message": "no"}}', "no"),
        ('{"error": "[Scrubbed due to x]"}', ""),
        ('{"status": "error", "message": "no"}', "no"),
        ("Error: no", "Error: no"),
        ("java.io.IOException: no", "java.io.IOException: no"),
        ("Traceback (most recent call last):\n  x\nValueError: no", "ValueError: no"),
        ('{"error": null}', None),
        ('{"errors": 3}', None),
        ("No Error: fine", None),
        ("main.rs:3: Error: x", None),
        ("Terror: no", None),
        ("error: could not compile", None),
    ],
)
def test_an_error_is_read_only_where_a_result_says_so(result, error):
    """Only reserved keys, and the head of a text."""
    assert error_in(result) == error
    assert (outcome_of(result, failed=None)[0] is ToolOutcome.ERROR) == (error is not None)


@pytest.mark.parametrize(
    ("result", "failed", "outcome"),
    [
        ("done", None, ToolOutcome.OK),
        ("no matches", None, ToolOutcome.EMPTY),
        ("done", True, ToolOutcome.ERROR),
        (None, None, ToolOutcome.UNKNOWN),
        ("Refused by the watchdog: ls is not available.", None, ToolOutcome.REFUSED),
        ('{"error": "Refused by the watchdog: ls is not available."}', True, ToolOutcome.REFUSED),
    ],
)
def test_a_call_ended_as_trace_and_result_say(result, failed, outcome):
    """What nobody says is unknown."""
    assert outcome_of(result, failed=failed)[0] is outcome


def test_a_long_or_deep_repr_is_left_alone():
    """A result is not worth any price, and nothing of it may raise."""
    assert parsed("{'a': '" + "x" * 30_000 + "'}") is None
    assert parsed("[" * 5000) is None
    assert text_of(object()) is not None
