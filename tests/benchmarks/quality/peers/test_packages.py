"""The packages from PyPI, each asked in its own environment as the benchmark asks it."""

import re
from pathlib import Path

import pytest

from benchmarks.quality.peers import PACKAGES
from benchmarks.quality.peers.measuring import python_of, watched_by
from benchmarks.quality.runs import LabelledRun

ROOT = Path(__file__).parents[4]


def run_of(name, calls, *, expect):
    """Return a labelled run of calls with their results: tool, arguments, result, failed."""
    events = [
        event
        for turn, (tool, args, result, failed) in enumerate(calls, start=1)
        for event in (
            {"kind": "tool_call", "turn": turn, "name": tool, "args": args},
            {"kind": "tool_result", "turn": turn, "name": tool, "result": result, "error": failed},
        )
    ]
    return LabelledRun(id=name, group="g", events=events, expect=expect)


def work(number):
    """Return a few different calls that go well."""
    names = ("ada", "bob", "eve", "kim")
    return [
        ("read_file", {"path": f"src/{name}{number}.py"}, f"class {name.title()}: ...", False)
        for name in names
    ]


LOOP = [("run_tests", {"path": "tests"}, "Error: no module named app", True)] * 30
RUNS = [
    *(run_of(f"good-{number}", work(number), expect="quiet") for number in range(24)),
    run_of("loop", LOOP, expect="fire"),
]


@pytest.mark.slow
@pytest.mark.parametrize("adapter", PACKAGES)
def test_a_loop_is_found_and_plain_work_left_alone(adapter):
    """As each is wired: thirty times one failing call, and runs of four different ones."""
    if not python_of(adapter).exists():
        pytest.skip(f"{PACKAGES[adapter]} is not installed: make bench-peers")

    rows = watched_by(adapter, RUNS)

    told = [row.as_json() for row in rows]
    assert [(one["failure"], one["crashes"]) for one in told] == [(None, [])] * len(rows)
    assert [(one["spoke"]["recall"], one["spoke"]["false"]) for one in told] == [(1.0, 0)] * len(
        rows
    )
    assert {row.version for row in rows} == {pinned(PACKAGES[adapter])}


def pinned(package):
    """Return the version of a package that its list pins."""
    text = (ROOT / "requirements" / "peers" / f"{package}.txt").read_text("utf-8")
    found = re.search(rf"^{package}==(\S+)", text, re.MULTILINE)
    assert found is not None
    return found[1]
