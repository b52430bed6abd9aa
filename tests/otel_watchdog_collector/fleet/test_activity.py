"""The activity strip: what counts, on which day, and when healing may be switched on."""

import pytest

from otel_watchdog_collector.fleet.activity import activity
from otel_watchdog_collector.health import HealingMode

NOW = 1_790_000_000.0  # 2026-09-21T14:13:20Z


def entry(day, action, hour=12):
    """Return an entry of the audit."""
    return {"time": f"2026-09-{day:02}T{hour:02}:00:00.000Z", "action": action}


ENTRIES = [
    entry(21, "watchdog-restart"),
    entry(20, "watchdog-restart-observed"),
    entry(15, "watchdog-crashloop-pause"),
    entry(15, "watchdog-giveup"),
    entry(10, "watchdog-crashloop-pause-observed"),
    entry(10, "watchdog-giveup-observed"),
    entry(10, "watchdog-healthy-reset"),
    {"time": "2026-07-01T00:00:00Z", "action": "watchdog-restart"},
    {"time": "2026-08-22T23:59:59Z", "action": "watchdog-restart"},
    {"time": "yesterday", "action": "watchdog-restart"},
    entry(21, "resume"),
    entry(21, "condition-changed"),
    entry(20, "kill-switch"),
]

FIELDS = {
    "state": "no-output",
    "since": "2026-09-21T10:00:00.000Z",
    "message": "m",
    "conditions": [
        {"type": "Ready", "status": "False"},
        {"type": "Authenticated", "status": "Unknown"},
        {"type": "Producing", "status": "True"},
    ],
    "paused": None,
}


def told(days=30, mode=HealingMode.OBSERVE, entries=ENTRIES, agents=()):
    """Return what is told."""
    return activity(entries, agents, days=days, now=NOW, mode=mode)


def test_only_the_watchdogs_actions_of_the_window_count():
    """Older ones, noise, and entries without a time do not."""
    found = told()

    assert (found["total"], found["taken"], found["observed"]) == (7, 4, 3)
    assert found["byAction"] == {
        "crashloop-pause": 1,
        "crashloop-pause-observed": 1,
        "giveup": 1,
        "giveup-observed": 1,
        "healthy-reset": 1,
        "restart": 1,
        "restart-observed": 1,
    }
    assert (found["lastAction"], found["lastActionAt"]) == ("restart", "2026-09-21T12:00:00Z")
    assert (found["mode"], found["acting"], found["days"]) == ("observe", False, 30)


def test_verdicts_in_the_window_speak_against_healing():
    """Taken and observed ones; a shorter window without any is safe."""
    month, days = told()["promotion"], told(days=2)

    assert not month["safe"]
    assert month["reason"].startswith("4 crash-loop verdicts")
    assert days["total"] == 2
    assert days["promotion"]["safe"]
    assert "2 restarts would have been made" in days["promotion"]["reason"]


def test_nothing_at_all_is_an_answer():
    """Zero is told as zero, and is not the same as would-be restarts without a pause."""
    found = told(entries=[])

    assert (found["total"], found["lastAction"], found["lastActionAt"]) == (0, None, None)
    assert found["promotion"]["reason"] == "nothing happened that healing would have acted on"


def test_days_are_whole_days_utc_without_a_gap():
    """The oldest first, zero-filled, today included."""
    daily = told(days=7)["daily"]

    assert [day["date"] for day in daily] == [f"2026-09-{day}" for day in range(15, 22)]
    assert [day["count"] for day in daily] == [2, 0, 0, 0, 0, 1, 1]
    assert daily[0]["byAction"] == {"crashloop-pause": 1, "giveup": 1}


def test_times_of_other_zones_are_put_on_their_day_in_utc():
    """Whatever wrote them."""
    late = {"time": "2026-09-20T23:30:00-02:00", "action": "watchdog-restart"}

    daily = told(days=2, entries=[late])["daily"]

    assert [day["count"] for day in daily] == [0, 1]


def test_of_equal_times_the_later_entry_is_the_last_action():
    """The audit is in order."""
    both = [entry(21, "watchdog-crashloop-pause"), entry(21, "watchdog-giveup")]

    assert told(entries=both)["lastAction"] == "giveup"


@pytest.mark.parametrize("mode", [HealingMode.HEAL, HealingMode.OFF])
def test_only_who_observes_is_given_a_hint(mode):
    """Who heals has decided."""
    assert told(mode=mode)["promotion"] is None


def test_agents_are_listed_by_name_and_only_if_they_were_judged():
    """State, since when, and the other conditions."""
    paused = {**FIELDS, "state": "crash-loop", "paused": {"at": "x"}}

    agents = told(agents=[("s/z", paused), ("s/a", FIELDS), ("s/new", {"conditions": []})])[
        "agents"
    ]

    assert [(one["name"], one["state"], one["paused"]) for one in agents] == [
        ("s/a", "no-output", False),
        ("s/z", "crash-loop", True),
    ]
    assert (agents[0]["authenticated"], agents[0]["producing"]) == ("Unknown", "True")
