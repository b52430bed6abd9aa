"""The ladder: tiers, caps, claims and pauses, by cases and whatever the order of calls."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from otel_watchdog import ConfigError, Ladder, Severity, Tier
from otel_watchdog.policies import Decision
from otel_watchdog.testing import finding

CASES = json.loads((Path(__file__).parent / "testdata" / "ladder.json").read_text("utf-8"))["cases"]

CALLS = st.lists(
    st.one_of(
        st.tuples(
            st.just("decide"),
            st.integers(1, 60),
            st.none() | st.floats(0, 500),
            st.sampled_from(Severity),
        ),
        st.tuples(st.just("claim"), st.integers(1, 61)),
        st.tuples(st.just("start_run"), st.none() | st.integers(1, 80)),
    ),
    max_size=60,
)


def answers(ladder, steps):
    """Take the steps of a case; return what was answered to each question."""
    found = []
    for step in steps:
        if "claim" in step:
            ladder.claim(turn=step["claim"])
        elif "start_run" in step:
            ladder.start_run(max_turns=step["start_run"])
        else:
            asked = {"now": None, "severity": "critical"} | step["decide"]
            findings = [finding(severity=Severity(asked.pop("severity")))]
            found.append(ladder.decide(findings, **asked))
    return found


def expected(step):
    """Return the decision that a step expects."""
    given = step["expect"]
    tier = Tier(given["tier"]) if given["tier"] else None
    return Decision(**(given | {"tier": tier}))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case):
    """Each published case comes out as it says."""
    ladder = Ladder(**case["options"])
    if "max_turns" in case:
        ladder.start_run(max_turns=case["max_turns"])

    found = answers(ladder, case["steps"])

    assert found == [expected(step) for step in case["steps"] if "decide" in step]


def test_the_strongest_finding_decides_how_high():
    """A warn that comes with a critical one does not hold it down."""
    ladder = Ladder(refractory_seconds=0, refractory_turns=0)
    both = [finding(), finding(severity=Severity.WARN)]
    tiers = []

    for turn in range(1, 6):
        tiers.append(ladder.decide(both, turn=turn, now=None).tier)
        ladder.claim(turn=turn + 1)

    assert tiers == list(Tier)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_corrections": 6}, "ladder.max_corrections must be 0 to 5, got 6"),
        ({"max_corrections": -1}, "ladder.max_corrections must be 0 to 5, got -1"),
        ({"min_turns": -1}, "min_turns"),
        ({"refractory_seconds": -0.1}, "refractory_seconds"),
        ({"refractory_turns": -1}, "refractory_turns"),
        ({"refractory_seconds": float("nan")}, "refractory_seconds"),
    ],
)
def test_refuses_what_is_out_of_bounds(options, named):
    """A wrong option fails at start and is named."""
    with pytest.raises(ConfigError, match=named):
        Ladder(**options)


@settings(deadline=None)
@given(calls=CALLS)
def test_holds_its_promises_whatever_the_order_of_calls(calls):
    """No tier above its number, five claimed a run at most, caps that only lower."""
    ladder = Ladder(refractory_seconds=10, refractory_turns=1)
    claimed, pending, cap, own = 0, False, None, None

    for call in calls:
        if call[0] == "start_run":
            ladder.start_run(max_turns=call[1])
            claimed, pending, cap, own = 0, False, None, call[1]
        elif call[0] == "claim":
            ladder.claim(turn=call[1])
            claimed, pending = claimed + pending, False
        else:
            _, turn, now, severity = call
            decision = ladder.decide([finding(severity=severity)], turn=turn, now=now)
            assert decision.n == claimed + 1
            assert (decision.tier is None) == bool(decision.held)
            if decision.tier is None:
                continue
            assert not pending
            assert claimed < 5
            pending = True
            assert decision.tier <= min(claimed + 1, 5)
            assert severity is Severity.CRITICAL or decision.tier <= Tier.FORCE_WRAP
            assert (decision.max_turns is None) == (decision.tier < Tier.HARD_STOP)
            if decision.max_turns is not None:
                assert decision.max_turns <= turn + {4: 10, 5: 3}[decision.tier]
                assert own is None or decision.max_turns <= own
                assert cap is None or decision.max_turns <= cap
                cap = decision.max_turns
