"""Opinions: findings made above the engine, which take nothing from what rules find."""

import pytest

from otel_watchdog import Severity, ToolCall, ToolOutcome, ToolResult, Watchdog, WatchdogConfig
from otel_watchdog.detectors import RepeatedToolCall
from otel_watchdog.model import Finding, Kind, Mode, RunStarted, Tier


def opinion(*, max_tier=Tier.REDIRECT):
    return Finding(
        detector="judge",
        kind=Kind.NO_PROGRESS,
        severity=Severity.WARN,
        reason="nothing new in six turns",
        guidance="Nothing new has come of your last turns.",
        max_tier=max_tier,
    )


def call(turn, *, name="ls", time=None):
    return ToolCall("s", turn, name, "{}", None, time)


def result(turn, *, time=None):
    return ToolResult("s", turn, "ls", ToolOutcome.OK, "a b c", None, None, time)


def engine(*, found=None, held=None, mode=Mode.FEEDBACK, **settings):
    watchdog = Watchdog(
        config=WatchdogConfig(mode=mode, **settings),
        detectors=[RepeatedToolCall(threshold=3)],
        on_finding=None if found is None else lambda finding, _: found.append(finding.detector),
        on_suppressed=None if held is None else lambda one: held.append(one.reason),
    )
    watchdog.observe(RunStarted("s", "r", "worker"))
    return watchdog


def test_an_opinion_leads_to_a_correction():
    """It takes the ladder's first rung as any finding does, and is told to who listens."""
    found: list[str] = []
    watchdog = engine(found=found)
    watchdog.observe(call(1))

    correction = watchdog.propose(opinion(), result(1))

    assert (correction.tier, correction.finding.detector) == (Tier.NUDGE, "judge")
    assert "Nothing new has come of your last turns." in correction.message
    assert found == ["judge"]


@pytest.mark.parametrize("mode", [Mode.FEEDBACK, Mode.OBSERVE])
def test_a_rule_is_not_held_back_by_an_opinion(mode):
    """What a rule finds right after an opinion is corrected, given or not, and no turn later."""
    watchdog = engine(mode=mode, refractory_turns=9)
    watchdog.observe(call(1))
    watchdog.observe(call(2))
    watchdog.propose(opinion(), call(2))

    correction = watchdog.observe(call(3))

    assert (correction.tier, correction.finding.detector) == (Tier.NUDGE, "repeated_tool_call")


def test_a_rule_is_not_merged_into_an_opinion():
    """Two corrections of a turn are one, but a rule's is always made."""
    watchdog = engine()
    for turn in (1, 2, 3):
        watchdog.observe(call(turn, name="ls" if turn < 3 else "cat"))
    watchdog.propose(opinion(), call(3))

    corrections = [watchdog.observe(call(3)) for _ in range(3)]

    assert corrections[-1].finding.detector == "repeated_tool_call"


def test_a_claimed_opinion_does_not_restart_rules():
    """Two of three equal calls stay counted when a judge's correction is given."""
    watchdog = engine(refractory_turns=0)
    watchdog.observe(call(1))
    watchdog.observe(call(2))
    watchdog.claim(watchdog.propose(opinion(), call(2)))

    correction = watchdog.observe(call(3))

    assert correction.finding.detector == "repeated_tool_call"


def test_rules_keep_their_corrections_when_opinions_use_them_up():
    """The limit of corrections a run counts opinions, but they are given back to a rule."""
    watchdog = engine(max_corrections=1, refractory_turns=0)
    watchdog.observe(call(1))
    watchdog.claim(watchdog.propose(opinion(), call(1)))
    watchdog.observe(call(2))
    assert watchdog.propose(opinion(), call(2)) is None

    correction = watchdog.observe(call(3))

    assert (correction.n, correction.tier) == (1, Tier.NUDGE)


@pytest.mark.parametrize("profile", ["standard", "classic", "eager", "gentle"])
@pytest.mark.parametrize("limit", [Tier.REDIRECT, Tier.FORCE_WRAP])
def test_opinions_alone_never_end_a_run(profile, limit):
    """However many there are, they reach no firmer tier than they may, and cap nothing."""
    watchdog = engine(
        mode=Mode.ENFORCE, profile=profile, min_turns=0, refractory_turns=0, refractory_seconds=0
    )
    tiers = []
    for turn in range(1, 30):
        watchdog.observe(call(turn, name=f"tool{turn}"))
        correction = watchdog.propose(opinion(max_tier=limit), call(turn))
        if correction is not None:
            tiers.append((correction.tier, correction.max_turns))
            watchdog.claim(correction)

    assert tiers
    assert max(tier for tier, _ in tiers) <= limit
    assert {cap for _, cap in tiers} == {None}


def test_an_opinion_right_after_a_rules_correction_is_held_back():
    """The agent answers one correction at a time; the rule's comes first."""
    held: list[str] = []
    watchdog = engine(held=held)
    for turn in (1, 2, 3):
        watchdog.observe(call(turn))

    assert watchdog.propose(opinion(), call(3)) is None
    watchdog.observe(call(4, name="cat"))
    assert watchdog.propose(opinion(), call(4)) is None
    assert held == ["merged", "unclaimed"]


def test_an_opinion_on_another_session_or_run_says_nothing():
    """An answer that comes when its run is over, or forgotten, is dropped."""
    watchdog = engine()
    watchdog.observe(call(4))
    watchdog.observe(RunStarted("s", "r2", "worker"))

    assert watchdog.propose(opinion(), call(4)) is None
    assert watchdog.propose(opinion(), call(1)._replace(session="other")) is None
