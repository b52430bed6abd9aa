"""Recorded spans in OTLP form."""

import pytest

from otel_watchdog import InputError
from otel_watchdog.otlp import SpanStream, in_order, logs_of, spans_of
from otel_watchdog.spans import LogRecord, RecordedSpan


def request(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "app"}, "spans": list(spans)}]}]}


def test_a_span_is_read_whole():
    """Ids are hexadecimal, times nanoseconds, values typed."""
    (span,) = spans_of(
        request(
            {
                "traceId": "0a",
                "spanId": "0b",
                "parentSpanId": "",
                "name": "chat",
                "startTimeUnixNano": "1000000000",
                "endTimeUnixNano": 2000000000,
                "attributes": [{"key": "n", "value": {"intValue": "3"}}],
                "events": [{"name": "exception", "attributes": []}],
                "status": {"code": 2, "message": "broken"},
            }
        )
    )

    assert (span.trace_id, span.span_id, span.parent_id, span.scope) == (10, 11, None, "app")
    assert (span.start, span.end, span.attributes) == (1.0, 2.0, {"n": 3})
    assert (span.is_error, span.status_text, span.events[0].name) == (True, "broken", "exception")


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"resourceSpans": 3}, "resourceSpans"),
        ({"resourceSpans": [{"scopeSpans": [3]}]}, "resourceSpans[0].scopeSpans"),
        (request({"traceId": "xyz", "spanId": "1"}), "resourceSpans[0].scopeSpans[0].spans[0]"),
        (request({"traceId": "1"}), "resourceSpans[0].scopeSpans[0].spans[0]"),
    ],
)
def test_a_wrong_shape_is_told_with_its_place(wrong, place):
    """Who made the file finds the span."""
    with pytest.raises(InputError) as error:
        list(spans_of(wrong))

    assert str(error.value).startswith(place)


def recorded(span_id, start, end, parent_id=None):
    return RecordedSpan(
        name=str(span_id),
        scope="app",
        trace_id=1,
        span_id=span_id,
        parent_id=parent_id,
        attributes={},
        start=start,
        end=end,
    )


def test_spans_open_and_end_in_the_order_of_what_happened():
    """Whatever their order in the file; one that never ends is only opened."""
    spans = [recorded(2, 2, 3, 1), recorded(1, 1, 4), recorded(3, 3, None, 1)]

    moments = [(spans[index].span_id, opens) for index, opens in in_order(spans)]

    assert moments == [(1, True), (2, True), (2, False), (3, True), (1, False)]


def test_a_span_opens_after_its_parent():
    """Clocks of JavaScript have milliseconds: a child may seem to begin first."""
    spans = [recorded(2, 1.0, 3, 1), recorded(1, 2.0, 4), recorded(3, 2.0, 3, 2)]

    opened = [spans[index].span_id for index, opens in in_order(spans) if opens]

    assert opened == [1, 2, 3]


def test_spans_that_are_their_own_ancestors_are_survived():
    """A broken recording is read as far as it goes."""
    spans = [recorded(1, 1, 2, 2), recorded(2, 1, 2, 1), recorded(3, 1, 2, 3)]

    assert len(list(in_order(spans))) == 6


def test_a_stream_tells_with_which_span():
    """The index is the span's in what was given."""
    span = recorded(1, 1, 2)
    span.attributes = {"gen_ai.operation.name": "chat"}

    (moment,) = SpanStream().observe([span])

    assert moment[0] == 0
    assert [type(o).__name__ for o in moment[1]] == ["RunStarted", "ModelTurn"]


def logs_request(*logs):
    scope = {"scope": {"name": "app"}, "logRecords": list(logs)}
    return {"resourceLogs": [{"scopeLogs": [scope]}]}


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ({"eventName": "chat"}, "chat"),
        ({"eventName": "file.rs:7", "attributes": [("event.name", "chat")]}, "chat"),
        ({}, ""),
    ],
)
def test_a_log_record_is_read_whole(named, name):
    """Its event's name may stand in an attribute; a time of 0 is none."""
    pairs = [{"key": k, "value": {"stringValue": v}} for k, v in named.get("attributes", ())]
    body = {"kvlistValue": {"values": [{"key": "id", "value": {"stringValue": "c1"}}]}}
    record = {
        "traceId": "0a",
        "spanId": "0b",
        "timeUnixNano": "0",
        "observedTimeUnixNano": "1000000000",
        "body": body,
    }

    (log,) = logs_of(logs_request(record | named | {"attributes": pairs}))

    assert (log.name, log.scope, log.trace_id, log.parent_id) == (name, "app", 10, 11)
    assert (log.start, log.end, log.body) == (1.0, 1.0, {"id": "c1"})


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"resourceLogs": 3}, "resourceLogs"),
        (logs_request({"traceId": "x"}), "resourceLogs[0].scopeLogs[0].logRecords[0]"),
    ],
)
def test_a_wrong_log_record_is_told_with_its_place(wrong, place):
    """Who sent it can find it."""
    with pytest.raises(InputError, match=r"log record|must be a list") as raised:
        list(logs_of(wrong))

    assert str(raised.value).startswith(place)


def test_a_log_record_stands_in_its_span_whatever_the_clock_says():
    """Some clocks count whole milliseconds."""
    span = RecordedSpan(
        name="x", scope="", trace_id=1, span_id=1, attributes={}, start=1.0, end=1.5
    )
    early, late = (
        LogRecord(name="x", scope="", attributes={}, parent_id=1, start=start)
        for start in (0.5, 2.0)
    )

    order = list(in_order([span, early, late]))

    assert order == [(0, True), (1, False), (2, False), (0, False)]


def test_a_child_begins_and_ends_in_its_parent_whatever_the_clock_says():
    """A child that began just after its parent's end was its child all the same."""
    parent, child = (
        RecordedSpan(name="x", scope="", trace_id=1, span_id=i, attributes={}, start=start, end=end)
        for i, start, end in ((1, 1.0, 1.5), (2, 1.501, 1.502))
    )
    child.parent_id = 1

    order = list(in_order([child, parent]))

    assert order == [(1, True), (0, True), (0, False), (1, False)]
