"""Server-sent events, and corrections from whoever answers."""

import io
import json

import pytest
from hypothesis import given, strategies as st

from otel_watchdog import InputError
from otel_watchdog.transport import event_stream


def read(text, **options):
    """Read a stream's events."""
    return list(event_stream.events(io.BytesIO(text).readline, **options))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"data: a\n\n", [("", "message", "a")]),
        (b"data:a\r\ndata: b\r\n\r\n", [("", "message", "a\nb")]),
        (b": hi\n\nretry: 5\n\n", []),
        (b"event: x\nid: 3\ndata\n\ndata: y\n\n", [("3", "x", ""), ("3", "message", "y")]),
        (b"id: 3\n\ndata: a\n\n", [("3", "message", "a")]),
        (b"id: a\0b\ndata: a\n\n", [("", "message", "a")]),
        (b"data: unfinished\n", []),
        (b"data: \xff\n\n", [("", "message", "\ufffd")]),
        (b"", []),
    ],
)
def test_reads_what_the_standard_says(text, expected):
    """Comments, several lines, ids that last, an end in the middle."""
    assert read(text) == expected


def test_goes_on_from_an_id():
    """It stays the last one until another comes."""
    assert read(b"data: a\n\n", last_id="7") == [("7", "message", "a")]


@pytest.mark.parametrize("text", [b"data: " + b"x" * 300_000, b"data: " + b"x\ndata: " * 200_000])
def test_is_bounded(text):
    """An endless line or event breaks the stream off."""
    with pytest.raises(InputError, match="bytes"):
        read(text + b"\n\n")


@given(st.binary(max_size=300))
def test_reads_anything(text):
    """Without an error of another kind."""
    read(text)


@given(st.recursive(st.none() | st.integers() | st.text() | st.booleans(), st.lists))
def test_what_is_no_correction_is_refused(value):
    """With one kind of error, whatever it is."""
    with pytest.raises(InputError):
        event_stream.correction(json.dumps(value), session="s")


@pytest.mark.parametrize("data", ["", "{", '{"findings": []}', '"\\ud800"'])
def test_what_is_no_json_object_is_refused(data):
    """It says that it is no correction."""
    with pytest.raises(InputError, match="no correction"):
        event_stream.correction(data, session="s")
