"""What is told of detectors, also of those that cannot be had."""

import os
import stat

import pytest

from benchmarks.quality.peers import measuring
from benchmarks.quality.runs import LabelledRun


def run_of(number, calls, *, expect):
    """Return a labelled run of calls that are all different."""
    events = [
        {"kind": kind, "turn": turn, "name": "write", "args": {"n": turn}, "result": "ok"}
        for turn in range(calls)
        for kind in ("tool_call", "tool_result")
    ]
    return LabelledRun(id=f"run-{number}", group="g", events=events, expect=expect)


RUNS = [run_of(1, 4, expect="quiet"), run_of(2, 30, expect="fire")]


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Return a way to put a program where an environment's Python would be."""
    monkeypatch.setattr(measuring, "ENVIRONMENTS", tmp_path)

    def put(text):
        python = tmp_path / "unwedge" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        python.chmod(python.stat().st_mode | stat.S_IXUSR)

    return put


def test_rules_written_anew_are_scored_like_all():
    """Four calls are let be; the 21st is halted."""
    rows = measuring.watched_by("step_count", RUNS)

    told = rows[0].as_json()
    assert (told["name"], told["failure"], told["crashes"]) == ("20 calls", None, [])
    assert (told["halted"]["recall"], told["halted"]["false_rate"]) == (1.0, 0.0)


@pytest.mark.usefixtures("environment")
def test_a_peer_that_is_not_installed_is_told_as_such():
    """It has no figures, rather than zeros."""
    (row,) = measuring.watched_by("unwedge", RUNS)

    told = row.as_json()
    assert (told["failure"], "spoke" in told) == ("not installed", False)


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for a broken Python")
def test_a_peer_that_dies_is_told_with_its_last_words(environment):
    """Made fit for a table and a terminal."""
    environment("cat > /dev/null; printf 'first\\nlast \\033[31m| words\\n' >&2; exit 3")

    (row,) = measuring.watched_by("unwedge", RUNS)

    assert row.failure == "died: last  [31m/ words"


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for a broken Python")
@pytest.mark.parametrize("answer", ["hello", '{"name": "unwedge", "version": "9", "runs": []}'])
def test_an_answer_that_makes_no_sense_is_told(environment, answer):
    """A package that writes into it, or leaves runs out, does not end the benchmark."""
    environment(f"cat > /dev/null; echo '{answer}'")

    (row,) = measuring.watched_by("unwedge", RUNS)

    assert row.failure == "its answer could not be read"


@pytest.mark.skipif(os.name != "posix", reason="a shell script stands in for a Python")
def test_a_crash_on_a_run_is_counted_and_what_was_said_before_stands(environment):
    """The other runs are scored as ever."""
    answer = (
        '{"name": "unwedge", "version": "9", "runs": [{"said": [], "crash": "KeyError: 1"},'
        ' {"said": [[3, "warn"], [5, "halt"]], "crash": null}]}'
    )
    environment(f"cat > /dev/null; echo '{answer}'")

    (row,) = measuring.watched_by("unwedge", RUNS)

    assert row.crashes == ["run-1: KeyError: 1"]
    assert [(one.corrections, one.critical) for one in row.verdicts] == [((), ()), ((3, 5), (5,))]
    assert row.only(lambda run: run.id == "run-2").crashes == []


def test_the_best_count_of_calls_is_chosen_in_hindsight():
    """The smallest that parts the two runs."""
    row = measuring.best_count(RUNS)

    assert row.version == "4 calls"
    assert row.as_json()["spoke"]["f1"] == 1.0
