"""Qwen Code's counts, at and below each threshold, and what its heuristics add."""

import pytest

from benchmarks.quality.peers.qwen_code import Qwen


def test_the_same_call_five_times_in_a_row(play):
    """As it ships; another call begins anew."""
    same = play.call("read_file", {"path": "a"})

    assert play.told(Qwen(), *[same] * 5) == [None] * 4 + ["halt"]
    assert play.told(Qwen(), *[same] * 4, play.call("ls"), *[same] * 4) == [None] * 9


def test_a_list_of_tasks_may_be_asked_while_it_changes(play):
    """Others work on it; the same answers are a loop all the same."""
    changing = [play.call("task_list", {}, play.fresh()) for _ in range(9)]
    frozen = [play.call("task_list", {}, "3 open")] * 5

    assert play.told(Qwen(), *changing) == [None] * 9
    assert play.told(Qwen(), *frozen) == [None] * 4 + ["halt"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "halt"),
        ("git --no-pager diff --stat HEAD~1 && git status -s", "halt"),
        ("git diff HEAD -- src/a.py", None),
        ("git status && make", None),
    ],
)
def test_eight_looks_at_the_state_of_the_repository(play, command, expected):
    """What also works, or looks at one file, is progress."""
    looks = [play.call("bash", {"command": f"{command}{' ' * n}"}, "x") for n in range(8)]

    assert play.told(Qwen(), *looks)[-1] == expected


def test_more_than_a_hundred_calls_halt_only_where_one_is_repeated(play):
    """Six times the same is the sign of it."""
    fresh = [play.call("write", {"n": n}) for n in range(101)]
    repeated = [*[one for n in range(6) for one in (fresh[n], play.call("ls"))], *fresh[6:]]

    assert set(play.told(Qwen(), *fresh)) == {None}
    assert play.told(Qwen(), *repeated).index("halt") == 100


def test_heuristics_are_off_as_it_ships(play):
    """One tool eight times in a row."""
    turns = [play.call("search", {"q": n}) for n in range(8)]

    assert play.told(Qwen(), *turns) == [None] * 8
    assert play.told(Qwen(is_heuristic=True), *turns) == [None] * 7 + ["halt"]


def test_a_call_six_times_anywhere(play):
    """With anything between."""
    turns = [one for n in range(6) for one in (play.call("ls"), play.call(f"t{n}"))]

    assert play.told(Qwen(is_heuristic=True), *turns).index("halt") == 10


def test_two_calls_alternating_three_times(play):
    """Six calls long."""
    a, b = play.call("a"), play.call("b")

    assert play.told(Qwen(is_heuristic=True), a, b, a, b, a, b) == [None] * 5 + ["halt"]


def test_reading_on_and_on_after_something_else_was_done(play):
    """To begin with, reading is how one gets to know a project."""
    reads = [
        play.call(name, {"n": n}) for n in range(5) for name in ("read_file", "list_directory")
    ]

    assert play.told(Qwen(is_heuristic=True), *reads) == [None] * 10
    said = play.told(Qwen(is_heuristic=True), play.call("edit"), *reads)
    assert said.index("halt") == 8
