"""`repeated_tool_name` against its cases in testdata/."""

import json
import re
from pathlib import Path

import pytest

from otel_watchdog import ConfigError, Kind, Severity
from otel_watchdog.detectors import RepeatedToolName

CASES = json.loads(
    (Path(__file__).parent / "testdata" / "repeated_tool_name.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(RepeatedToolName(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0}, "repeated_tool_name.threshold must be at least 2, got 0"),
        ({"defer_row": 1}, "repeated_tool_name.defer_row must be 0 or at least 2, got 1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        RepeatedToolName(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(RepeatedToolName(threshold=2))

    watched.play([{"call": "find", "arguments": {"q": q}} for q in "ab"])

    assert watched.finding.kind is Kind.REPHRASE
    assert watched.finding.severity is Severity.WARN
    assert watched.finding.evidence == {"tool": "find", "count": 2}
    assert watched.finding.reason == "find was called 2 times in a row, and nothing else"


def test_finding_counts_the_calls_that_it_waited_for(watch):
    """Where it has waited for a row of equal calls to end, these count."""
    watched = watch(RepeatedToolName(threshold=3, defer_row=2))

    watched.play([{"call": "find", "times": 6}, {"call": "find", "arguments": {"q": "a"}}])

    assert watched.finding.evidence["count"] == 7
