"""Nudges with time between, and the end of thoughts that go in a circle."""

import pytest

from otel_watchdog import ConfigError, Kind, Tier
from otel_watchdog.policies import Decision, Spaced
from otel_watchdog.testing import finding

FAILED = [finding(kind=Kind.FAILURE_STREAK)]
THOUGHT = [finding(kind=Kind.THOUGHT_REPETITION)]


def nudged(policy, findings, *, turn, now=None):
    """Ask, claim before the next turn, and return the tier."""
    decision = policy.decide(findings, turn=turn, now=now)
    if decision.tier is not None:
        policy.claim(turn=turn + 1)
    return decision.tier


@pytest.mark.parametrize(
    ("seconds", "turns", "held"),
    [(29, 3, "refractory"), (31, 1, "refractory"), (31, 2, "")],
)
def test_seconds_and_turns_must_both_have_passed(seconds, turns, held):
    """Whichever is later decides."""
    policy = Spaced(refractory_seconds=30, refractory_turns=2)
    policy.decide(FAILED, turn=4, now=100.0)
    policy.claim(turn=5)

    decision = policy.decide(FAILED, turn=4 + turns, now=100.0 + seconds)

    assert decision.held == held
    assert (decision.tier is Tier.NUDGE) is not bool(held)


def test_nudges_do_not_grow_firmer_and_do_not_end():
    """However many there were."""
    policy = Spaced(refractory_seconds=0, refractory_turns=0)

    assert {nudged(policy, FAILED, turn=turn) for turn in range(1, 30)} == {Tier.NUDGE}


def test_the_third_thought_ends_the_run():
    """Two nudges were not heard; the run ends where it stands."""
    policy = Spaced(refractory_seconds=0, refractory_turns=0)
    first = [nudged(policy, THOUGHT, turn=turn) for turn in (1, 2)]

    assert first == [Tier.NUDGE, Tier.NUDGE]
    assert policy.decide(THOUGHT, turn=3, now=None) == Decision(Tier.TERMINATE, n=3, max_turns=3)


def test_without_interrupt_the_third_thought_is_not_told():
    """The cap holds, and the run goes on."""
    policy = Spaced(refractory_seconds=0, refractory_turns=0, interrupt=False)
    for turn in (1, 2):
        nudged(policy, THOUGHT, turn=turn)

    assert policy.decide(THOUGHT, turn=3, now=None).held == "cap"
    assert policy.decide(FAILED, turn=3, now=None).tier is Tier.NUDGE


def test_a_new_run_counts_thoughts_anew():
    """Budgets are a run's."""
    policy = Spaced(refractory_seconds=0, refractory_turns=0)
    for turn in (1, 2):
        nudged(policy, THOUGHT, turn=turn)

    policy.start_run()

    assert nudged(policy, THOUGHT, turn=1) is Tier.NUDGE


def test_a_nudge_that_was_not_given_is_followed_by_none():
    """As on the ladder."""
    policy = Spaced()
    policy.decide(FAILED, turn=1, now=None)

    assert policy.decide(FAILED, turn=9, now=None).held == "unclaimed"


def test_a_cap_never_raises_the_runs_own_limit():
    """The run ends at whichever comes first."""
    policy = Spaced(max_thoughts=0)
    policy.start_run(max_turns=5)

    assert policy.decide(THOUGHT, turn=9, now=None).max_turns == 5


@pytest.mark.parametrize("name", ["refractory_seconds", "refractory_turns", "max_thoughts"])
def test_refuses_what_is_out_of_bounds(name):
    """A wrong option fails at start and is named."""
    with pytest.raises(ConfigError, match=name):
        Spaced(**{name: -1})  # type: ignore[arg-type] # the names are those of numbers
