"""Log records wait for their span, and not for ever."""

from otel_watchdog.spans import LogRecord, RecordedSpan
from otel_watchdog_collector.pipeline.held import HOLD_SECONDS, MAX_HELD, Held
from otel_watchdog_collector.wire import Resource

NOBODY = Resource({})


def record(name, span):
    return LogRecord(name=name, scope="", trace_id=1, parent_id=span, attributes={})


def span(id_):
    return RecordedSpan(name="x", scope="", trace_id=1, span_id=id_, attributes={})


def names(items):
    return [item.recorded.name for item in items]


def test_records_come_with_their_span_in_the_order_in_which_they_came():
    held = Held()
    held.put(record("a", 1), NOBODY, 0.0)
    held.put(record("b", 2), NOBODY, 0.0)
    held.put(record("c", 1), NOBODY, 1.0)

    assert names(held.take([span(1)])) == ["a", "c"]
    assert names(held.take([span(1), span(2)])) == ["b"]


def test_a_record_whose_span_does_not_come_is_read_alone():
    held = Held()
    held.put(record("a", 1), NOBODY, 0.0)

    assert names(held.due(HOLD_SECONDS - 1)) == []
    assert names(held.due(HOLD_SECONDS)) == ["a"]
    assert names(held.due(HOLD_SECONDS)) == []


def test_of_too_many_the_oldest_are_read_alone():
    held = Held()
    for number in range(MAX_HELD + 2):
        held.put(record(str(number), number + 1), NOBODY, 0.0)

    assert names(held.due(0.0)) == ["0", "1"]
