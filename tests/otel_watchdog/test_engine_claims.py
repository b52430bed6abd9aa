"""When the engine may speak again: claims, fresh evidence, refractory time, floors and runs."""

from itertools import pairwise
from typing import Any

import pytest

from otel_watchdog import (
    Mode,
    ModelTurn,
    Profile,
    RunEnded,
    RunStarted,
    Severity,
    Tier,
    Watchdog,
)
from otel_watchdog.policies import Ask, Ladder, Spaced
from tests.otel_watchdog.engine_cases import Always, call, config, loop, watch


def test_an_unclaimed_correction_is_followed_by_none():
    """No new tier before the agent was given the last."""
    assert len(loop(watch(), 100, claim=False)) == 1


def test_a_claim_counts_once_and_only_for_the_correction_that_waits():
    """Doubled, foreign and forgotten claims change nothing."""
    watchdog = watch(Always())
    first = watchdog.observe(call(1))
    foreign = watch(Always()).observe(call(1, session="elsewhere"))

    for correction in (foreign, first, first, first):
        watchdog.claim(correction)

    assert watchdog.observe(call(2)).n == 2


def test_evidence_starts_anew_when_a_correction_goes_out():
    """Five more calls, not one, call for the next tier."""
    assert [c.turn for c in loop(watch(), 14)] == [5, 10]


def test_evidence_goes_on_in_profile_classic():
    """The published rule tells of one row once, whatever is said in between."""
    corrections = loop(watch(profile=Profile.CLASSIC), 50)

    assert [c.turn for c in corrections] == [5]


@pytest.mark.parametrize("profile", Profile)
def test_a_lease_without_a_claim_does_not_count(profile):
    """A model call that failed leaves the ladder where it was."""
    watchdog = watch(Always(), profile=profile, min_turns=0)
    correction = watchdog.observe(call(1))

    watchdog.lease(correction)
    again = watchdog.observe(call(2))
    watchdog.lease(correction)
    watchdog.claim(correction)

    assert again is None
    assert watchdog.observe(call(3)).n == 2


def test_refractory_turns_count_from_the_turn_that_held_the_message():
    """Leased before turn 6, a correction leaves turns 6 and 7 to answer it."""
    watchdog = watch(Always(), refractory_turns=2)
    correction = watchdog.observe(call(5))
    watchdog.lease(correction)
    watchdog.observe(ModelTurn("s", 6))
    watchdog.claim(correction)

    found = [watchdog.observe(call(turn)) is not None for turn in (6, 7)]

    assert found == [False, True]


def test_a_loop_that_begins_below_the_floor_is_corrected_above_it():
    """A detector fires once a pattern: what was held must not silence the rest of the run."""
    corrections = loop(watch(min_turns=15), 40)

    assert corrections[0].span_name == "watchdog-nudge-turn-15"
    assert len(corrections) == 5


def test_a_fast_loop_is_corrected_again_after_the_refractory_seconds():
    """A turn a second completes the pattern before 30 s are over; the ladder still goes on."""
    watchdog = watch(refractory_seconds=30, refractory_turns=2)
    found = []

    for turn in range(1, 200):
        correction = watchdog.observe(call(turn, time=float(turn)))
        if correction:
            watchdog.claim(correction)
            found.append(correction)

    assert [c.tier for c in found] == list(Tier)
    assert all(b.turn - a.turn >= 30 for a, b in pairwise(found))


def test_a_new_run_starts_from_the_first_tier():
    """Corrections count by run; the session's memory goes on."""
    watchdog = watch()
    watchdog.observe(RunStarted("s", "r1"))
    first = loop(watchdog, 10)
    watchdog.observe(RunEnded("s", "r1", 10))

    watchdog.observe(RunStarted("s", "r2"))
    second = loop(watchdog, 10)

    assert [(c.run, c.n) for c in first + second] == [("r1", 1), ("r1", 2), ("r2", 1), ("r2", 2)]


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.FEEDBACK])
def test_a_loop_over_a_run_boundary_is_found_again(mode):
    """Where a run ends with a correction that nobody took, the next run's loop is not silent."""
    watchdog = watch(mode=mode)
    watchdog.observe(RunStarted("s", "r1"))
    loop(watchdog, 5, claim=False)
    watchdog.observe(RunStarted("s", "r2"))

    corrections = loop(watchdog, 5, claim=False)

    assert [(c.run, c.turn) for c in corrections] == [("r2", 5)]


def test_the_claim_of_a_run_before_does_not_count():
    """A correction that is taken a run late is taken, and the run begins at nudge."""
    watchdog = watch(Always())
    watchdog.observe(RunStarted("s", "r1"))
    late = watchdog.observe(call(4))
    watchdog.observe(RunStarted("s", "r2"))

    watchdog.lease(late)
    watchdog.claim(late)

    assert watchdog.observe(call(1)).n == 1


def held(watchdog_settings, turns, *, claim):
    """Return why findings of an endless loop led to nothing, in order, each reason once."""
    reasons: list[tuple[str, str]] = []
    detectors: Any = [Always(), Always("other", Severity.WARN)]
    watchdog = Watchdog(
        config=config(**watchdog_settings),
        detectors=detectors,
        on_suppressed=lambda one: reasons.append((one.reason, one.finding.detector)),
    )
    loop(watchdog, turns, claim=claim)
    return list(dict.fromkeys(reasons))


def test_each_suppressed_finding_says_why():
    """Merged into another's correction, below the floor, unclaimed, too soon, or past the cap."""
    everybody = [("floor", "always"), ("floor", "other"), ("merged", "other")]

    assert held({"min_turns": 2}, 2, claim=True) == everybody
    assert held({}, 2, claim=False) == [
        ("merged", "other"),
        ("unclaimed", "always"),
        ("unclaimed", "other"),
    ]
    assert held({"refractory_turns": 5}, 2, claim=True)[1] == ("refractory", "always")
    assert held({"max_corrections": 1}, 2, claim=True)[1] == ("cap", "always")


@pytest.mark.parametrize(
    "policy",
    [
        Ladder(refractory_seconds=0, refractory_turns=0),
        Spaced(refractory_seconds=0, refractory_turns=0),
        Ask(Ladder(refractory_seconds=0, refractory_turns=0), ask=lambda _: None),
    ],
    ids=lambda policy: policy.name,
)
def test_a_correction_that_is_withdrawn_holds_back_no_other(policy):
    """It does not count: the next one is as mild, and rests on evidence of its own."""
    watchdog = watch(policy=policy)
    (first,) = loop(watchdog, 8, claim=False)

    watchdog.withdraw(first)
    watchdog.withdraw(first)

    (second,) = loop(watchdog, 8, claim=False, first=9)
    assert (second.n, second.tier) == (first.n, first.tier)
    assert second.turn == 9 + 4


def test_a_withdrawal_of_what_does_not_wait_changes_nothing():
    """Neither one that was claimed nor one of a session that nobody knows."""
    watchdog = watch(Always())
    first = watchdog.observe(call(1))
    watchdog.claim(first)
    second = watchdog.observe(call(2))
    foreign = watch(Always()).observe(call(1, session="elsewhere"))

    for correction in (first, foreign):
        watchdog.withdraw(correction)

    assert watchdog.observe(call(3)) is None
    watchdog.claim(second)
    assert watchdog.observe(call(4)).n == 3
