"""Hermes' counts, at and below each threshold."""

from benchmarks.quality.peers.hermes import Hermes


def test_the_same_call_failing_warns_at_two_and_is_refused_after_five(play):
    """The sixth is refused before it is made."""
    turns = [play.call("deploy", {"to": "x"}, play.fresh(), failed=True) for _ in range(6)]

    assert play.told(Hermes(), *turns) == [None, "warn", "warn", "warn", "warn", "halt"]


def test_one_tool_failing_in_many_ways_warns_at_three_and_halts_at_eight(play):
    """A shell, whose failures are normal work, is never halted for that."""
    deploys = [play.call("deploy", {"n": n}, play.fresh(), failed=True) for n in range(8)]
    shells = [play.call("bash", {"command": str(n)}, play.fresh(), failed=True) for n in range(9)]

    assert play.told(Hermes(), *deploys) == [None, None] + ["warn"] * 5 + ["halt"]
    assert play.told(Hermes(), *shells) == [None, None] + ["warn"] * 7


def test_a_change_that_went_well_makes_the_next_failure_a_first_one(play):
    """Edit and run again is an experiment, not a replay."""
    fails = play.call("run_tests", {}, "1 failed", failed=True)
    edits = [play.call("edit_file", {"n": n}) for n in range(4)]

    said = play.told(Hermes(), fails, edits[0], fails, edits[1], fails, edits[2], fails)

    assert said == [None] * 7


def test_reading_the_same_warns_at_two_and_is_refused_after_five(play):
    """Other reading in between does not help; a new result does."""
    read = play.call("read_file", {"path": "a"}, "text")
    turns = [one for n in range(5) for one in (read, play.call("grep", {"q": n}, play.fresh()))]

    assert play.told(Hermes(), *turns, read)[::2] == [None] + ["warn"] * 4 + ["halt"]
    assert play.told(Hermes(), *[play.call("read_file", {}, play.fresh())] * 1, read) == [None] * 2


def test_any_call_with_the_same_result_three_times_in_a_row_is_noticed(play):
    """At five it halts; what waits may repeat."""
    same = play.call("compute", {"x": 1}, "42")
    waits = play.call("job_status", {"id": 1}, "running")

    assert play.told(Hermes(), *[same] * 5) == [None, None, "warn", "warn", "halt"]
    assert play.told(Hermes(), *[waits] * 6) == [None] * 6


def test_a_round_of_calls_three_times_is_noticed(play):
    """Up to four calls long."""
    lap = [play.call(name, {}, name) for name in ("one", "two", "three", "four")]

    assert play.told(Hermes(), *lap, *lap, *lap) == [None] * 11 + ["warn"]


def test_the_user_begins_all_anew(play):
    """Hermes counts within a turn of the user."""
    fails = play.call("deploy", {}, "no", failed=True)

    assert play.told(Hermes(), fails, play.message("Again.", user=True), fails) == [None] * 3


def test_where_failure_was_not_recorded_the_words_of_the_result_tell(play):
    """As Hermes does where nobody tells it."""
    unknown = play.call("deploy", {}, "Error: no such host", failed=None)
    fine = play.call("deploy", {}, "no errors found", failed=None)

    assert play.told(Hermes(), unknown, unknown) == [None, "warn"]
    assert play.told(Hermes(), fine, fine) == [None, None]
