"""`no_new_state` against its cases in testdata/, and against counting by hand."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from otel_watchdog import ConfigError, Kind, Severity, ToolOutcome, ToolResult
from otel_watchdog.detectors import NoNewState

CASES = json.loads((Path(__file__).parent / "testdata" / "no_new_state.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(NoNewState(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 2}, "no_new_state.threshold must be at least 3, got 2"),
        (
            {"memory_results": 5},
            "no_new_state.memory_results must be at least threshold (6), got 5",
        ),
        (
            {"exempt_tools": "sleep"},
            "no_new_state.exempt_tools must be a list of names, got 'sleep'",
        ),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        NoNewState(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(NoNewState())

    watched.play([{"result": "ls", "text": text} for text in "abababab"])

    assert watched.finding.kind is Kind.NO_PROGRESS
    assert watched.finding.severity is Severity.WARN
    assert watched.finding.evidence == {"count": 6, "distinct": 2}
    assert watched.finding.reason == "6 results in a row held nothing that the run had not seen"


def by_hand(texts, threshold, memory_results):
    """Return where the rule fires, written down as it is told."""
    fired_at = []
    seen: list[str] = []
    length = 0
    for place, text in enumerate(texts, start=1):
        if text in seen:
            length += 1
        else:
            seen = [*seen, text][-memory_results:]
            length = 0
        if length == threshold:
            fired_at.append(place)
    return fired_at


@pytest.mark.slow
@settings(max_examples=100)
@given(st.text("abcdef", max_size=60), st.integers(3, 5), st.integers(0, 2))
def test_agrees_with_counting_by_hand(watch, texts, threshold, more):
    """The first result remembered is the first forgotten, however often it came again."""
    watched = watch(NoNewState(threshold=threshold, memory_results=threshold + more))

    fired_at = watched.show(ToolResult("s", 1, "ls", ToolOutcome.OK, text) for text in texts)

    assert fired_at == by_hand(texts, threshold, threshold + more)
