"""What the reconciler does, case by case, on a clock that is moved by hand."""

import json
from pathlib import Path

import pytest

CASES = json.loads((Path(__file__).parent / "testdata" / "conformance.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_an_agent_is_judged_and_healed_as_the_case_says(bench, case):
    """Conditions, restarts, audit and incidents after each step."""
    made = bench(case["settings"], case["mode"])

    for step in case["steps"]:
        made.step(step)

    assert any("expect" in step for step in case["steps"])
