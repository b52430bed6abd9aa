"""What the watchdog that this follows got wrong, and must not go wrong here."""

import pytest

from otel_watchdog_collector.fleet import reconciler, roster
from otel_watchdog_collector.fleet.activity import promotion
from otel_watchdog_collector.health import SignKind

DAY = 86_400
HUNG = {"be": {"shop/a": "hung"}}
READY = {"be": {"shop/a": "ready"}}


def look(made, at, every=None, **more):
    """Take a look at a time; with `every`, looks in between, too."""
    made.step({"at": at, "sweep": True, **({"every": every} if every else {}), **more})


def counted(made):
    """Return how often each action stands in the audit, without the prefix."""
    names = [name.removeprefix("watchdog-") for name in made.audit if name.startswith("watchdog-")]
    return {name: names.count(name) for name in names}


def test_observing_finds_that_healing_would_have_given_up(bench):
    """A shadow ladder climbs as the real one would: the promotion hint cannot be empty praise."""
    made = bench(mode="observe")

    look(made, 0, **HUNG)
    look(made, 3600, every=30)

    found = counted(made)
    assert found["crashloop-pause-observed"] == found["giveup-observed"] == 1
    assert not promotion(found)["safe"]
    assert made.actions == []


def test_a_dead_agent_is_not_told_of_at_every_look(bench):
    """A day of looks at an agent that stays dead: five would-be restarts, one would-be pause."""
    made = bench(mode="observe")

    look(made, 0, **HUNG)
    look(made, DAY, every=300)

    assert counted(made) == {
        "restart-observed": 5,
        "crashloop-pause-observed": 1,
        "giveup-observed": 1,
    }


def test_every_step_of_the_backoff_counts_before_the_pause(bench):
    """The fifth restart has its sixteen minutes to prove itself, too."""
    made = bench({"boot_grace_seconds": 0})
    restarts: list[int] = []
    pauses: list[int] = []

    for at in range(0, 2400, 10):
        before = len(made.actions)
        look(made, at, **HUNG)
        for action in made.actions[before:]:
            (restarts if action.kind == "restart" else pauses).append(at)

    assert restarts == [0, 60, 180, 420, 900]
    assert pauses == [900 + 960]


def test_attempts_count_not_failures_of_the_command(bench):
    """A restart whose command works and one whose command fails are both one attempt."""
    made = bench({"boot_grace_seconds": 0})
    made.returns = False

    look(made, 0, **HUNG)
    made.fleet.finished(made.actions[-1], 1_790_000_001.0, ok=False)
    look(made, 60)
    made.fleet.finished(made.actions[-1], 1_790_000_061.0, ok=True)

    assert len(made.actions) == 2
    assert made.fleet.agents["shop/a"].ladder.failures == 2


def test_a_resumed_agent_that_dies_again_is_tried_once_and_paused_again(bench):
    """The latch goes with the pause; people hear of the second pause, too."""
    made = bench({"boot_grace_seconds": 0})
    look(made, 0, **HUNG)
    look(made, 3600, every=60)
    assert [action.kind for action in made.actions] == ["restart"] * 5 + ["pause"]

    look(made, 3660, resume="shop/a")
    look(made, 3660 + 3600, every=60)

    assert [action.kind for action in made.actions[6:]] == ["restart", "pause"]
    assert [one["kind"] for one in made.incidents.values()] == ["crash-loop", "crash-loop"]
    assert [one["state"] for one in made.incidents.values()] == ["closed", "open"]


@pytest.mark.parametrize(("gap", "failures"), [(7 * 3600, 1), (30, 0)])
def test_time_in_which_nobody_looked_is_no_health(bench, gap, failures):
    """The service was down for hours: the stretch begins anew; for seconds: it goes on."""
    made = bench({"sweep_seconds": 30, "boot_grace_seconds": 0})
    look(made, 0, **HUNG)
    look(made, 30, **READY)
    look(made, 1500, every=30)

    look(made, 1500 + gap, restart="kept")
    look(made, 1500 + gap + 600, every=30)

    assert made.fleet.agents["shop/a"].ladder.failures == failures
    assert counted(made).get("healthy-reset", 0) == 1 - failures


@pytest.mark.parametrize(("dip_at", "failures"), [(1530, 1), (None, 0)])
def test_a_dip_between_two_looks_ends_the_stretch_of_health(bench, dip_at, failures):
    """Health is not what a look every five minutes happens to see."""
    made = bench({"sweep_seconds": 300, "boot_grace_seconds": 0})
    look(made, 0, **HUNG)
    made.keeps.clear()

    for at in range(30, 2401, 30):
        idle = 400.0 if at == dip_at else 2.0
        made.step({"at": at, "beat": {"open_spans": 1, "idle_seconds": idle}})
        if at % 300 == 0:
            look(made, at)

    assert made.fleet.agents["shop/a"].ladder.failures == failures


def test_no_more_restarts_are_in_work_than_allowed(bench):
    """The others wait for a later look, and nothing is counted against them."""
    made = bench({"max_restarts_at_once": 2})
    made.returns = False
    agents = [f"shop/{name}" for name in "abcde"]

    look(made, 0, be=dict.fromkeys(agents, "hung"))
    look(made, 1)

    assert [action.agent for action in made.actions] == agents[:2]
    assert made.fleet.agents["shop/e"].ladder.failures == 0


def test_silence_of_agents_while_the_service_was_down_kills_nobody(bench):
    """After a start, each has the whole time to speak."""
    made = bench({"sweep_seconds": 30})
    for name in "abc":
        made.beat({"agent": f"shop/{name}", "open_spans": 0, "idle_seconds": 1.0})
    look(made, 0)

    look(made, 8 * 3600, restart="kept")
    look(made, 8 * 3600 + 290, every=30)

    assert made.actions == []
    look(made, 8 * 3600 + 330, every=30)
    assert len(made.actions) == 3


def test_spans_without_a_name_are_no_agent_beside_named_ones(bench):
    """Some instrumentations name the agent on one span alone."""
    made = bench()
    made.see([{"agent": "shop/shop", "kind": "answer"}, {"agent": "shop/a", "kind": "answer"}])

    look(made, 0)

    assert [name for name, row in made.rows.items() if row["conditions"]] == ["shop/a"]


def test_the_audit_quotes_nobody(bench):
    """Whatever a provider or an agent said stands in no entry."""
    made = bench({"boot_grace_seconds": 0})
    secret = "sk-planted-0123456789abcdef"  # noqa: S105 - planted
    made.see([{"kind": SignKind.REFUSED, "times": 3, "text": f"401 {secret}"}])
    look(made, 0)
    made.see([{"kind": SignKind.ANSWER}, {"kind": SignKind.FAILED, "times": 3, "text": secret}])
    look(made, 1)
    look(made, 4000, every=60, **HUNG)

    written = repr(made.entries)

    assert {"incident-opened", "condition-changed"} <= set(made.audit)
    assert secret not in written


def test_a_person_who_resumes_stands_in_the_audit(bench):
    """Who did what, to whom, and why it was paused."""
    made = bench({"boot_grace_seconds": 0})
    look(made, 0, **HUNG)
    look(made, 3600, every=60)

    look(made, 3660, resume="shop/a")

    entry = next(one for one in made.entries if one.action == "resume")
    assert (entry.user, entry.agent) == ("ada", "shop/a")
    assert entry.detail == {"trigger": "watchdog-crashloop"}


def test_an_agent_that_is_gone_for_a_week_is_forgotten(bench):
    """With its incident; one that a person must see to is not."""
    made = bench({"sweep_seconds": 3600, "boot_grace_seconds": 0, "crash_loop_after": 1})
    look(made, 0, be={"shop/a": "hung"})
    made.keeps.clear()
    made.see([{"agent": "shop/b", "kind": "refused", "times": 3}])
    look(made, 7 * DAY - 3600, every=3600)
    assert sorted(made.fleet.agents) == ["shop/a", "shop/b"]

    look(made, 8 * DAY, every=3600)

    assert sorted(made.fleet.agents) == ["shop/a"]
    assert made.fleet.agents["shop/a"].state == "crash-loop"
    assert made.told("open", {}) == ["crash-loop"]


def test_of_too_many_agents_the_least_recently_heard_of_goes(bench, monkeypatch):
    """Not the one that has been there for longest."""
    monkeypatch.setattr(roster, "MAX_AGENTS", 3)
    made = bench()
    for name in "abcad":
        made.see([{"agent": f"shop/{name}", "kind": "activity"}])

    assert list(made.fleet.agents) == ["shop/c", "shop/a", "shop/d"]


def test_parts_of_a_look_are_one_look(bench, monkeypatch):
    """Each agent is judged once, and limits hold for all of them."""
    monkeypatch.setattr(reconciler, "PART", 2)
    made = bench({"max_restarts_at_once": 3})
    made.returns = False
    agents = [f"shop/{name}" for name in "abcdefg"]

    look(made, 0, be=dict.fromkeys(agents, "hung"))

    assert [action.agent for action in made.actions] == agents[:3]
    assert sorted(made.rows) == agents


def test_all_are_handed_out_to_be_kept_a_part_at_a_time(bench, monkeypatch):
    """None is left out; where there is no agent, what stands in the audit still is handed out."""
    monkeypatch.setattr(reconciler, "KEPT_AT_ONCE", 2)
    made, empty = bench(), bench()
    made.see([{"agent": f"shop/{name}", "kind": "activity"} for name in "abcde"])
    empty.fleet.write("kill-switch", 0.0, "ada")

    parts = [[state.agent for state in changes.agents] for changes in made.fleet.take_all()]
    others = [(len(changes.agents), len(changes.audit)) for changes in empty.fleet.take_all()]

    assert parts == [["a", "b"], ["c", "d"], ["e"]]
    assert others == [(0, 1)]
