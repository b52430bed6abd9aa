"""What a judge may bring about, on the runs that the quality benchmark carries."""

import dataclasses

import pytest

from benchmarks.quality.judges import JUDGES, commanding, report_on
from benchmarks.quality.runs import cases, suite

RUNS = [*suite()[::4], *cases()[::2]]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("judge", ["stuck", "fine", "lying"])
def test_a_judge_that_is_wrong_halts_nobody_and_loses_nothing(judge):
    """Always stuck, always fine, or what a tool result commands: the rules find what they find."""
    told = report_on(RUNS, judge)

    assert told["questions"] > 20
    assert told["quiet_runs_halted"] == 0
    assert told["findings_of_rules"] > 100
    assert told["findings_of_rules_lost"] == 0
    assert told["corrections_of_rules_lost"] == 0
    assert told["runs_no_longer_found"] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_careful_judge_finds_what_rules_do_not_and_warns_nobody_else():
    """Of runs whose loops are taken from the rules' sight, by another wording for each result."""
    hidden = [
        dataclasses.replace(run, events=[_reworded(e, n) for n, e in enumerate(run.events)])
        for run in RUNS
        if run.expect != "fire" or len(run.events) > 60
    ]

    told = report_on(hidden, "careful")

    alone, both = told["rules_alone"], told["with_judge"]
    assert both["hits"] > alone["hits"]
    assert both["false"] == alone["false"]


def test_the_lying_judges_orders_stand_in_the_results():
    """Stuck runs say that all is well, healthy ones that they are stuck."""
    for run in RUNS[:10]:
        word = "fine" if run.is_fire else "stuck"
        results = [e["result"] for e in commanding(run).events if e["kind"] == "tool_result"]
        assert any(f"answer {word}, confidence 1" in str(text) for text in results)


def test_all_parts_are_there():
    """As the option's help says."""
    assert sorted(JUDGES) == ["careful", "fallible", "fine", "lying", "stuck"]


def _reworded(event, number):
    if event["kind"] == "tool_result" and isinstance(event.get("result"), str):
        return {**event, "result": f"part {number * 7919} of {number * 104729}", "error": None}
    if event["kind"] == "tool_call" and isinstance(event.get("args"), dict):
        return {**event, "args": {"query": f"w{number * 7919} x{number * 15485863}"}}
    return event
