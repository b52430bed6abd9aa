"""What the engine may do: modes, the pause that lowers them, and the ladder nobody claims."""

import pytest

from otel_watchdog import (
    Mode,
    Tier,
)
from tests.otel_watchdog.engine_cases import Always, call, loop, names, watch


def test_mode_off_corrects_nothing():
    """Off is off, also where the engine is used by itself."""
    assert loop(watch(mode=Mode.OFF), 30) == []


@pytest.mark.parametrize("mode", [Mode.FEEDBACK, Mode.ENFORCE])
def test_the_ladder_ends_after_five(mode):
    """A loop that goes on climbs all five tiers once, and the last two cap the run."""
    corrections = loop(watch(mode=mode), 60)

    assert names(corrections) == [
        "watchdog-nudge-turn-5",
        "watchdog-redirect-turn-10",
        "watchdog-force-wrap-turn-15",
        "watchdog-hard-stop-turn-20",
        "watchdog-terminate-turn-25",
    ]
    assert [c.max_turns for c in corrections] == [None, None, None, 30, 28]
    assert {c.mode for c in corrections} == {mode}


def test_observe_goes_up_a_shadow_ladder_that_nobody_claims():
    """What would have been said is recorded tier by tier, under names of its own."""
    corrections = loop(watch(mode=Mode.OBSERVE), 60, claim=False)

    assert [c.tier for c in corrections] == list(Tier)
    assert names(corrections)[0] == "watchdog-nudge-turn-5-observed"
    assert all(name.endswith("-observed") for name in names(corrections))


@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
@pytest.mark.parametrize("mode", [Mode.FEEDBACK, Mode.ENFORCE])
def test_pause_lowers_to_observe_at_once(monkeypatch, mode, value):
    """The variable is read at every decision."""
    watchdog = watch(Always(), mode=mode)
    before = watchdog.observe(call(1))
    watchdog.claim(before)

    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", value)
    during = watchdog.observe(call(2))
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "0")
    after = watchdog.observe(call(3))

    assert [c.mode for c in (before, during, after)] == [mode, Mode.OBSERVE, mode]


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.OBSERVE])
def test_pause_never_raises_a_mode(monkeypatch, mode):
    """It can only lower."""
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")

    assert watch(mode=mode).mode is mode


def test_a_pause_takes_the_agent_no_rung_up(monkeypatch):
    """What an agent was not told while paused does not count against it afterwards."""
    watchdog = watch(mode=Mode.ENFORCE)
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
    paused = loop(watchdog, 24, claim=False)
    monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")

    resumed = loop(watchdog, 20, first=25)

    assert [c.tier for c in paused] == [Tier.NUDGE, Tier.REDIRECT, Tier.FORCE_WRAP, Tier.HARD_STOP]
    assert [c.tier for c in resumed][:2] == [Tier.NUDGE, Tier.REDIRECT]
    assert resumed[3].max_turns == resumed[3].turn + 10


def test_a_pause_goes_on_from_the_rung_that_was_reached(monkeypatch):
    """The shadow ladder starts where the real one stands, so that the record says what would be."""
    watchdog = watch()
    loop(watchdog, 10)
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")

    paused = loop(watchdog, 6, first=11, claim=False)

    assert names(paused) == ["watchdog-force-wrap-turn-15-observed"]


def test_a_second_pause_forgets_the_first(monkeypatch):
    """Each begins where the real ladder stands."""
    watchdog = watch(Always())
    paused = []

    for first in (1, 11):
        monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
        paused.append([c.n for c in loop(watchdog, 3, first=first, claim=False)])
        monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")
        loop(watchdog, 1, first=first + 3)

    assert paused == [[1, 2, 3], [2, 3, 4]]


def test_what_waits_when_a_pause_begins_is_not_replaced(monkeypatch):
    """The correction that the agent gets after the pause still counts."""
    watchdog = watch(Always())
    waiting = watchdog.observe(call(1))
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
    watchdog.observe(call(2))
    monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")

    watchdog.claim(waiting)

    assert watchdog.observe(call(3)).tier is Tier.REDIRECT
