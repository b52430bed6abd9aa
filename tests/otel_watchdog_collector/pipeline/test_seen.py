"""Which spans were seen before, for how many spans and for how long."""

import pickle

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


def test_what_was_seen_is_known_after_a_restart_and_to_who_takes_it_over():
    """Ids have 128 bits; none is taken for another."""
    spans = [1 << 64, *(number * 0x9E3779B97F4A7C15F39CC0605CEDC835 for number in range(1, 3000))]
    first, other = Seen(), Seen()
    for span in spans:
        (first if span % 2 else other).add(span)

    again: Seen = pickle.loads(pickle.dumps(first))  # noqa: S301 - what was pickled here
    again.absorb(other)

    assert not any(again.add(span) for span in spans)
    assert all(again.add(span + 1) for span in spans)
