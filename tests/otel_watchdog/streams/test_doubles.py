"""Where spans come only when they have ended, a call that two stand for is counted once."""

from otel_watchdog.spans import RecordedSpan
from otel_watchdog.streams.doubles import MAX_AROUND, Doubles


def span(id_, parent=None, start=1.0):
    return RecordedSpan(
        name="x", scope="", trace_id=1, span_id=id_, parent_id=parent, attributes={}, start=start
    )


def test_a_span_around_one_that_was_counted_is_told():
    doubles = Doubles()

    assert not doubles.is_told(span(2, parent=1), "sdk")
    assert doubles.is_told(span(1), "framework")
    assert not doubles.is_told(span(1), "framework")


def test_what_says_nothing_may_stand_between():
    doubles = Doubles()

    doubles.is_told(span(3, parent=2), "sdk")
    doubles.pass_on(span(2, parent=1))

    assert doubles.is_told(span(1), "framework")


def test_one_of_another_instrumentation_beside_it_that_began_earlier_is_told():
    doubles = Doubles()

    assert not doubles.is_told(span(2, parent=1, start=5.0), "sdk")
    assert doubles.is_told(span(3, parent=1, start=4.0), "framework")


def test_the_next_call_is_not_told():
    doubles = Doubles()

    assert not doubles.is_told(span(2, parent=1, start=5.0), "sdk")
    assert not doubles.is_told(span(3, parent=1, start=6.0), "framework")
    assert not doubles.is_told(span(4, parent=1, start=4.0), "framework")


def test_memory_is_bounded():
    doubles = Doubles()

    for number in range(2 * MAX_AROUND):
        doubles.is_told(span(10_000 + number, parent=number + 1), "sdk")

    assert not doubles.is_told(span(1), "framework")
    assert doubles.is_told(span(2 * MAX_AROUND), "framework")
