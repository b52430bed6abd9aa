"""Which spans were seen before, for how many spans and for how long."""

from otel_watchdog_collector.pipeline.seen import MAX_SECONDS, Seen

NOW = 1_790_000_000.0


def test_a_span_is_known_for_an_hour_at_least_and_two_at_most():
    """Whatever else comes in between; then it is gone."""
    seen = Seen()
    seen.age(NOW)
    seen.add(1)

    seen.age(NOW + MAX_SECONDS - 1)
    early = 1 in seen
    seen.age(NOW + MAX_SECONDS)
    late = 1 in seen
    seen.age(NOW + 2 * MAX_SECONDS)

    assert (early, late, 1 in seen) == (True, True, False)


def test_however_many_come_twice_as_many_as_allowed_are_known_at_most():
    """The oldest go first."""
    seen = Seen(max_spans=10)

    for span in range(100):
        seen.add(span)

    known = [span for span in range(100) if span in seen]
    assert known == list(range(100 - len(known), 100))
    assert 10 <= len(known) <= 20
