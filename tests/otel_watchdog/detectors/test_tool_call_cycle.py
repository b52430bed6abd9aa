"""`tool_call_cycle` against its cases in testdata/, and against counting by hand."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from otel_watchdog import ConfigError, Kind, Severity, ToolCall
from otel_watchdog.detectors import ToolCallCycle

CASES = json.loads((Path(__file__).parent / "testdata" / "tool_call_cycle.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(ToolCallCycle(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_period": 1}, "tool_call_cycle.max_period must be at least 2, got 1"),
        ({"threshold": 1}, "tool_call_cycle.threshold must be at least 2, got 1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        ToolCallCycle(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(ToolCallCycle())

    watched.play([{"times": 3, "events": [{"call": "list"}, {"call": "check"}]}])

    assert watched.finding.kind is Kind.CYCLE
    assert watched.finding.severity is Severity.CRITICAL
    assert watched.finding.evidence == {"sequence": "list → check", "period": 2, "count": 3}
    assert watched.finding.reason == "list → check was called 3 times over with the same arguments"


def by_hand(names, max_period, threshold):
    """Return where the rule fires, written down as it is told."""
    fired_at = []
    fired_for = None
    for end in range(1, len(names) + 1):
        cycle = None
        for period in range(2, max_period + 1):
            tail = names[:end][-period * threshold :]
            lap = tail[:period]
            if len(tail) == period * threshold and tail == lap * threshold and len(set(lap)) > 1:
                cycle = min(lap[i:] + lap[:i] for i in range(period))
                break
        if cycle is not None and cycle != fired_for:
            fired_at.append(end)
        fired_for = cycle
    return fired_at


LAPS = st.tuples(st.text("abc", min_size=1, max_size=5), st.integers(1, 5))
NAMES = st.lists(LAPS, max_size=6).map(lambda laps: "".join(lap * times for lap, times in laps))


@pytest.mark.slow
@settings(max_examples=150)
@given(NAMES, st.integers(2, 6), st.integers(2, 4))
def test_agrees_with_counting_by_hand(watch, names, max_period, threshold):
    """Counting matches call by call finds what comparing whole laps finds."""
    watched = watch(ToolCallCycle(max_period=max_period, threshold=threshold))

    fired_at = watched.show(ToolCall("s", 1, name, "{}") for name in names)

    assert fired_at == by_hand(names, max_period, threshold)
