"""`no_op_streak` against its cases in testdata/."""

import json
import re
from pathlib import Path

import pytest

from otel_watchdog import ConfigError, Kind, Severity
from otel_watchdog.detectors import NoOpStreak

CASES = json.loads((Path(__file__).parent / "testdata" / "no_op_streak.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(NoOpStreak(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1}, "no_op_streak.threshold must be at least 2, got 1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        NoOpStreak(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(NoOpStreak())

    watched.play([{"result": tool, "text": '{"no_op": true}'} for tool in "aba"])

    assert watched.finding.kind is Kind.NO_PROGRESS
    assert watched.finding.severity is Severity.CRITICAL
    assert watched.finding.evidence == {"tools": "a, b", "count": 3}
    assert watched.finding.reason == "3 tool calls in a row declared that they did nothing (a, b)"
