"""The re-created reports and a sample of the suite, also in other surroundings.

The data and the ways to change them are those of `benchmarks/quality`.
"""

import random

import pytest

from benchmarks.quality.runs import cases, suite
from benchmarks.quality.scores import judge, score
from benchmarks.quality.transformations import TRANSFORMATIONS, joined, without_results

SUITE = suite()
SAMPLE = SUITE[::4]


def seeded(seed):
    """Return the same random numbers each time."""
    return random.Random(seed)  # noqa: S311 - nothing secret


@pytest.mark.slow
def test_every_report_is_found_in_time_and_every_honest_case_is_quiet():
    """What users have reported is the least that must be right."""
    figures = score(judge(cases()))

    assert (figures.recall, figures.false_rate) == (1.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("change", TRANSFORMATIONS.values(), ids=TRANSFORMATIONS)
def test_surroundings_change_nothing(change):
    """Request ids, thoughts, one shell, opaque names, other paths: the same runs are found."""
    randomness = seeded(7)
    runs = [change(run, randomness) for run in SAMPLE]

    verdicts = judge(runs)

    assert score(verdicts).recall >= 0.92
    assert score(verdicts).false_rate <= 0.03
    assert score(verdicts, "critical").recall >= 0.77
    assert score(verdicts, "critical").false_rate == 0.0


@pytest.mark.slow
def test_long_honest_sessions_stay_quiet():
    """Quiet runs behind each other, with a word of the user between, are no loop."""
    runs = joined(SUITE, seeded(3), sessions=8)

    figures = score(judge(runs))

    assert figures.false == 0


@pytest.mark.slow
def test_without_results_nothing_is_critical():
    """Calls alone never stop a run."""
    runs = [without_results(run, seeded(7)) for run in SAMPLE]

    figures = score(judge(runs), "critical")

    assert (figures.hits, figures.false) == (0, 0)
