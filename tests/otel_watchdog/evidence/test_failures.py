"""How a call ended, by what its result says."""

import pytest

from otel_watchdog.evidence.exchanges import Effect, Trouble
from otel_watchdog.evidence.failures import (
    is_pending,
    line_of,
    low_of,
    outcome_of,
    signature_of,
    trouble_of,
)
from otel_watchdog.model import ToolOutcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Error: no such table", ToolOutcome.ERROR),
        ("Fehler: nicht gefunden", ToolOutcome.ERROR),
        ("Traceback (most recent call last):\nKeyError: 'x'", ToolOutcome.ERROR),
        ('{"error": "boom"}', ToolOutcome.ERROR),
        ('{"error": null, "rows": 3}', ToolOutcome.OK),
        ("bash: foo: command not found", ToolOutcome.ERROR),
        ("No matches found for 'x'.", ToolOutcome.EMPTY),
        ("Keine Treffer.", ToolOutcome.EMPTY),
        ("", ToolOutcome.EMPTY),
        ("[]", ToolOutcome.EMPTY),
        ("3 passed", ToolOutcome.OK),
        ("412 passed in 3 s", ToolOutcome.OK),
        ("500 services are up", ToolOutcome.OK),
        ("503 Service Unavailable", ToolOutcome.ERROR),
        ("All 40 errors were fixed", ToolOutcome.OK),
    ],
)
def test_outcome(text, outcome):
    """A failure stands at the head of a short result; nothing found is neither."""
    assert outcome_of(text, ToolOutcome.UNKNOWN, Effect.EXECUTE, is_shell=False) is outcome


def test_the_trace_is_believed_where_it_tells_of_a_failure():
    """What is marked as an error is one, whatever its text."""
    told = outcome_of("fine", ToolOutcome.ERROR, Effect.READ, is_shell=False)

    assert told is ToolOutcome.ERROR


@pytest.mark.parametrize(
    "text",
    [
        "edit rejected: no match for the text to replace",
        "The patch was not applied.",
        "old_string did not match the file",
        "Done; nothing was replaced.",
    ],
)
def test_a_writer_that_did_nothing_has_failed(text):
    """It changed nothing, whatever flag it carries; a reader may read of that."""
    wrote = outcome_of(text, ToolOutcome.OK, Effect.WRITE, is_shell=False)
    read = outcome_of(text, ToolOutcome.OK, Effect.READ, is_shell=False)

    assert wrote is ToolOutcome.ERROR
    assert read is ToolOutcome.OK


def test_a_reader_may_read_of_errors():
    """A file that speaks of exceptions is no failure."""
    text = "ValueError: raised where a value is wrong\nTypeError: ..."

    assert outcome_of(text, ToolOutcome.OK, Effect.READ, is_shell=False) is ToolOutcome.OK


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP 500 after 3 tries [request-id=7f3a039c]", "HTTP 500 after 4 tries"),
        ("f with {'a': 1}: TypeError: x", "f with {'b': {}}: TypeError: x"),
        ("line 1\nValueError: bad value 7", "line 2\nValueError: bad value 8"),
    ],
)
def test_one_cause_has_one_signature(one, other):
    """Numbers, ids and quoted arguments do not make another error."""
    assert signature_of(line_of(one)).split(" [")[0] == signature_of(line_of(other))


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("429 Too Many Requests", Trouble.SERVER),
        ("connect ECONNREFUSED 127.0.0.1", Trouble.SERVER),
        ("503 Service Unavailable", Trouble.SERVER),
        ("HTTP 500: internal error", None),
        ("401 Unauthorized", Trouble.AUTH),
        ("token has expired", Trouble.AUTH),
        ("no such file", None),
    ],
)
def test_trouble(text, trouble):
    """Overload may pass, a refused credential does not, a 500 is an error like any other."""
    assert trouble_of(text) is trouble


@pytest.mark.parametrize(
    ("text", "low"),
    [("12 passed, 3 failed", 3), ("found 16 errors", 16), ("ok", None), ("failed: 3", None)],
)
def test_low(text, low):
    """The last number of failures that a result tells of."""
    assert low_of(text) == low


def test_pending():
    """Something still goes on."""
    assert is_pending("state=running 40 %")
    assert not is_pending("deployed")
