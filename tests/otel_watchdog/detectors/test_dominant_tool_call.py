"""`dominant_tool_call` against its cases in testdata/, and against counting by hand."""

import json
import re
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from otel_watchdog import ConfigError, Kind, Severity, ToolCall
from otel_watchdog.detectors import DominantToolCall

CASES = json.loads(
    (Path(__file__).parent / "testdata" / "dominant_tool_call.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(DominantToolCall(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window_calls": 1}, "dominant_tool_call.window_calls must be at least 2, got 1"),
        ({"threshold": 1}, "dominant_tool_call.threshold must be 2 to window_calls (12), got 1"),
        ({"window_calls": 6, "threshold": 99}, "must be 2 to window_calls (6), got 99"),
        ({"defer_row": 1}, "dominant_tool_call.defer_row must be 0 or at least 2, got 1"),
        ({"defer_period": -1}, "dominant_tool_call.defer_period must be 0 or at least 2, got -1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        DominantToolCall(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(DominantToolCall())

    watched.play([{"times": 2, "events": [{"call": "poll", "times": 4}, {"call": "ls"}]}])

    assert watched.finding.kind is Kind.DOMINANT
    assert watched.finding.severity is Severity.CRITICAL
    assert watched.finding.evidence == {
        "tool": "poll",
        "arguments": "{}",
        "count": 8,
        "calls": 9,
    }
    assert watched.finding.reason == "poll made up 8 of the last 9 calls, with {}"


def by_hand(names, window_calls, threshold, defer_row, defer_period):
    """Return where the rule fires, written down as it is told."""
    fired_at = []
    fired_for = None
    for end in range(1, len(names) + 1):
        window = names[max(0, end - window_calls) : end]
        top = max(window, key=window.count)  # of several, the first in the window
        if window.count(top) < threshold:
            fired_for = None
            continue
        row = max(len(list(row)) for name, row in groupby(window) if name == top)
        goes_round = any(
            all(window[i] == window[i - period] for i in range(period, len(window)))
            for period in range(2, defer_period + 1)
            if period < len(window)
        )
        if (defer_row and row >= defer_row) or goes_round:
            continue
        if top != fired_for:
            fired_at.append(end)
        fired_for = top
    return fired_at


LAPS = st.tuples(st.text("abc", min_size=1, max_size=5), st.integers(1, 5))
NAMES = st.lists(LAPS, max_size=8).map(lambda laps: "".join(lap * times for lap, times in laps))
WINDOWS = st.integers(2, 14).flatmap(lambda calls: st.tuples(st.just(calls), st.integers(2, calls)))
DEFER = st.just(0) | st.integers(2, 6)


@pytest.mark.slow
@settings(max_examples=100)
@given(NAMES, WINDOWS, DEFER, DEFER)
def test_agrees_with_counting_by_hand(watch, names, window, defer_row, defer_period):
    """Counts that are kept up call by call find what a recount of the window finds."""
    window_calls, threshold = window
    watched = watch(
        DominantToolCall(
            window_calls=window_calls,
            threshold=threshold,
            defer_row=defer_row,
            defer_period=defer_period,
        )
    )

    fired_at = watched.show(ToolCall("s", 1, name, "{}") for name in names)

    assert fired_at == by_hand(names, window_calls, threshold, defer_row, defer_period)
