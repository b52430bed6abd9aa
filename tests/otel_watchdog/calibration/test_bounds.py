"""The bounds are exact: against sums of whole numbers, and by drawing every split there is."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from otel_watchdog import ConfigError
from otel_watchdog.calibration import Promise
from otel_watchdog.calibration.bounds import (
    binomial_tail,
    hypergeometric_tail,
    most_allowed,
    risk,
    runs_needed,
    upper_bound,
)


@given(st.integers(1, 60), st.data())
def test_the_binomial_tail_is_exact(runs, data):
    """Against fractions."""
    count = data.draw(st.integers(0, runs))
    share = data.draw(st.sampled_from([Fraction(1, 50), Fraction(1, 200), Fraction(1, 3)]))
    exact = sum(math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(count + 1))

    assert binomial_tail(count, runs, float(share)) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize(("runs", "following", "marked", "count"), [(4, 4, 3, 0), (5, 3, 4, 2)])
def test_the_hypergeometric_tail_counts_splits(runs, following, marked, count):
    """All ways to part few runs in two."""
    splits = list(itertools.combinations(range(runs + following), runs))
    exact = sum(sum(one < marked for one in split) <= count for split in splits) / len(splits)

    assert hypergeometric_tail(count, runs, following, marked) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("count", "runs", "known"), [(0, 149, 0.0199), (0, 598, 0.00500), (2, 50, 0.1206), (5, 5, 1.0)]
)
def test_the_upper_bound_is_clopper_and_pearsons(count, runs, known):
    """One-sided, at 95 %; values from tables."""
    assert upper_bound(count, runs, 0.95) == pytest.approx(known, abs=2e-4)


@given(st.integers(20, 400), st.sampled_from([0.02, 0.05, 0.2]), st.sampled_from([0.9, 0.95]))
def test_what_is_allowed_and_what_is_needed_agree(runs, share, confidence):
    """One more would be too many, and one run less would be too few."""
    most = most_allowed(runs, share, confidence)

    if most is None:
        assert runs < (runs_needed(share, confidence) or 0)
        return
    assert upper_bound(most, runs, confidence) <= share + 1e-9
    assert upper_bound(most + 1, runs, confidence) > share
    needed = runs_needed(share, confidence, count=most)
    assert needed is not None
    assert needed <= runs
    assert risk(most, needed - 1, share, None) > 1 - confidence


def test_a_promise_about_few_runs_to_come_needs_many():
    """That none of the next twenty is warned takes 380 of which none was."""
    assert runs_needed(0.02, 0.95, next_runs=20) == 380
    assert most_allowed(379, 0.02, 0.95, 20) is None
    assert risk(0, 10, 0.9, 1) > 0


@pytest.mark.parametrize("runs", [5, 8])
def test_the_conformal_bound_holds_over_every_order(runs):
    """Of all orders of few scores, so many break it as it says, choice of the setting included."""
    following, most, allowed = 3, 1, 0
    orders = list(itertools.combinations(range(runs + following), following))
    broken = 0
    for later in orders:
        first = sorted(set(range(runs + following)) - set(later))
        # Scores are ranks, 0 the first to be warned: the setting warns those before the run that
        # is the first to be one too many.
        warned = sum(rank < first[allowed] for rank in later)
        broken += warned > most

    assert broken / len(orders) == pytest.approx(
        hypergeometric_tail(allowed, runs, following, allowed + most + 1)
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"warned": 0}, "warned must be above 0 and below 1, got 0"),
        ({"halted": 1.0}, "halted must be above 0 and below 1, got 1.0"),
        ({"confidence": 95}, "confidence must be above 0 and below 1, got 95"),
        ({"next_runs": 0}, "next must be at least 1, got 0"),
    ],
)
def test_a_promise_has_bounds(options, said):
    """The message names the value."""
    with pytest.raises(ConfigError, match=said):
        Promise(**options)
