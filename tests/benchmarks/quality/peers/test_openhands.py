"""OpenHands' counts, at and below each threshold."""

import pytest

from benchmarks.quality.peers.openhands import OpenHands


def test_the_same_action_and_observation_four_times(play):
    """Three are not enough, and a new observation begins anew."""
    same = play.call("ls", {"path": "."}, "a b")

    assert play.told(OpenHands(), *[same] * 4) == [None, None, None, "halt"]
    other = play.call("ls", {"path": "."}, "a b c")
    assert play.told(OpenHands(), same, same, other, same, same) == [None] * 5


def test_the_same_action_failing_is_nudged_at_three_and_stuck_at_four(play):
    """Whatever the errors say."""
    turns = [play.call("make", {}, play.fresh(), failed=True) for _ in range(4)]

    assert play.told(OpenHands(), *turns) == [None, None, "warn", "halt"]
    nudged = play.told(OpenHands(), *turns[:3], play.message("I see."))
    assert nudged == [None, None, "warn", None]


def test_three_messages_without_an_action(play):
    """An action or the user between them makes it no monologue."""
    said = [play.message(play.fresh()) for _ in range(3)]

    assert play.told(OpenHands(), *said) == [None, None, "halt"]
    between = play.message("Go on.", user=True)
    assert play.told(OpenHands(), said[0], said[1], between, said[2]) == [None] * 4


def test_two_actions_alternating_six_long(play):
    """With their observations; a third action in between is no alternation."""
    a, b = play.call("a", {}, "1"), play.call("b", {}, "2")

    assert play.told(OpenHands(), a, b, a, b, a, b) == [None] * 5 + ["halt"]
    assert play.told(OpenHands(), a, b, play.call("c"), a, b, play.call("c")) == [None] * 6


@pytest.mark.parametrize(("compares", "expected"), [(True, None), (False, "halt")])
def test_a_reworded_thought_makes_another_action_unless_left_out(play, compares, expected):
    """The reason for the second row."""
    turns = [play.call("ls", {}, "a", thought=play.fresh()) for _ in range(4)]

    assert play.told(OpenHands(compares_thoughts=compares), *turns)[-1] == expected


def test_only_the_last_twenty_events_count(play):
    """Ten pairs: an alternation that is older is forgotten."""
    same = play.call("ls")
    others = [play.call("read", {"n": n}) for n in range(9)]

    assert play.told(OpenHands(), same, *others, same, same, same)[-1] is None
