"""A watchdog's state as bytes: it goes on where it was, and reads nothing that it should not."""

import pickle
from pathlib import Path

import pytest

from otel_watchdog import (
    Mode,
    RepeatedToolCall,
    RunStarted,
    Tier,
    ToolCall,
    Watchdog,
    WatchdogConfig,
)
from otel_watchdog.errors import InputError
from otel_watchdog.sessions import Sessions
from otel_watchdog.snapshots import freeze, thaw
from otel_watchdog.version import VERSION


class Harmful:
    """Writes a file when it is read back."""

    def __init__(self, path):
        self._path = path

    def __reduce__(self):
        return Path.touch, (self._path,)


def made():
    """Return a watchdog and its sessions."""
    config = WatchdogConfig(mode=Mode.FEEDBACK, refractory_seconds=0, refractory_turns=0)
    watchdog = Watchdog(config=config, detectors=[RepeatedToolCall(threshold=3)])
    return watchdog, Sessions(lambda _: None)


def tiers(watchdog, turns):
    """Let an agent repeat itself; return the tiers of its corrections, each claimed at once."""
    found = []
    for turn in turns:
        correction = watchdog.observe(ToolCall("s", turn, "ls", "{}"))
        if correction is not None:
            watchdog.claim(correction)
            found.append(correction.tier.label)
    return found


def test_evidence_and_ladder_go_on():
    """As if there had been no restart, in the middle of a streak."""
    straight, (first, sessions), (second, others) = made()[0], made(), made()
    expected = tiers(straight, range(1, 30))

    before = tiers(first, range(1, 12))
    thaw(freeze(first, sessions), second, others)
    after = tiers(second, range(12, 30))

    assert len(expected) > 2
    assert before + after == expected


def test_agents_that_work_together_still_do():
    """Also with one that joins after the restart."""
    (first, sessions), (second, others) = made(), made()
    for session in ("a", "b"):
        first.observe(RunStarted(session, "1", conversation="c"))

    thaw(freeze(first, sessions), second, others)
    second.observe(RunStarted("d", "1", conversation="c"))

    teams = [memory.progress.team for memory in second._sessions.values()]
    assert [len(team) for team in teams] == [3, 3, 3]


def test_who_was_heard_of_least_recently_still_goes_first():
    """Sessions are written by team, and come back in the order in which they were heard of."""
    (first, sessions), (second, others) = made(), made()
    for session, conversation in (("a", "c"), ("order", None), ("b", "c"), ("teams", "d")):
        first.observe(RunStarted(session, "1", conversation=conversation))

    thaw(freeze(first, sessions), second, others)

    assert list(second._sessions) == ["a", "order", "b", "teams"]


def test_what_is_kept_along_comes_back():
    """And stays the same thing where it was the same."""
    (first, sessions), (second, others) = made(), made()
    shared = [1]

    beside = thaw(freeze(first, sessions, {"a": shared, "b": shared}), second, others)

    assert beside == {"a": [1], "b": [1]}
    assert beside["a"] is beside["b"]


def test_a_forgotten_session_starts_anew():
    """`forget` drops evidence and ladder; a session that is not known is nothing to forget."""
    watchdog, _ = made()
    tiers(watchdog, range(1, 8))

    watchdog.forget("s")
    watchdog.forget("nobody")

    assert tiers(watchdog, range(8, 11)) == ["nudge"]


def test_nothing_else_is_read(tmp_path):
    """Bytes that would do something do nothing."""
    watchdog, sessions = made()
    path = tmp_path / "harm"
    body = pickle.dumps(Harmful(path))

    with pytest.raises(InputError, match="a snapshot that asks for"):
        thaw(body, watchdog, sessions)

    assert not path.exists()


class Grabbing:
    """Asks for an attribute that is no member of an enum, as old Pythons ask for members."""

    def __reduce__(self):
        return getattr, (Tier, "__init_subclass__")


def test_of_an_enum_only_its_members_are_read():
    """Python's way to write a member does not open the way to anything else."""
    watchdog, sessions = made()
    body = pickle.dumps(Grabbing())

    with pytest.raises(InputError, match="a snapshot that asks for"):
        thaw(body, watchdog, sessions)


@pytest.mark.parametrize("cut", [0, 1, 50])
def test_a_damaged_one_is_refused_and_changes_nothing(cut):
    """Whoever asked starts with no evidence."""
    (first, sessions), (second, others) = made(), made()
    tiers(first, range(1, 3))
    body = freeze(first, sessions)

    with pytest.raises(InputError, match="a snapshot that cannot be read"):
        thaw(body[:cut], second, others)

    assert tiers(second, range(1, 4)) == ["nudge"]


def test_one_of_an_earlier_format_is_refused():
    """It was written in one piece."""
    watchdog, sessions = made()
    body = pickle.dumps({"format": (2, VERSION), "engine": {}, "runs": {}, "sessions": {}})

    with pytest.raises(InputError, match=r"a snapshot of \(2, "):
        thaw(body, watchdog, sessions)


def test_one_of_another_version_is_refused(monkeypatch):
    """What its classes held may have changed."""
    (first, sessions), (second, others) = made(), made()
    monkeypatch.setattr("otel_watchdog.snapshots.VERSION", "0.0.0")
    body = freeze(first, sessions)
    monkeypatch.undo()

    with pytest.raises(InputError, match=r"a snapshot of \(3, '0\.0\.0'\)"):
        thaw(body, second, others)
