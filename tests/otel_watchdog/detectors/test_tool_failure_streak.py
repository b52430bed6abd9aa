"""`tool_failure_streak` against its cases in testdata/."""

import json
import re
from pathlib import Path

import pytest

from otel_watchdog import ConfigError, Kind, Severity
from otel_watchdog.detectors import ToolFailureStreak

CASES = json.loads(
    (Path(__file__).parent / "testdata" / "tool_failure_streak.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(ToolFailureStreak(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1}, "tool_failure_streak.threshold must be at least 2, got 1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        ToolFailureStreak(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(ToolFailureStreak())

    watched.play([{"result": tool, "outcome": "error", "error": f"no {tool}"} for tool in "aba"])

    assert watched.finding.kind is Kind.FAILURE_STREAK
    assert watched.finding.severity is Severity.WARN
    assert watched.finding.evidence == {"tools": "a, b", "error": "no a", "count": 3}
    assert watched.finding.reason == "3 tool calls in a row failed (a, b), the last with: no a"


def test_guidance_quotes_the_last_error_on_one_line_and_shortened(watch):
    """A stack trace does not flood the model's context."""
    watched = watch(ToolFailureStreak())
    error = "line one\n  line two\n" + "x" * 5000 + " the end"

    watched.play([{"result": "run", "outcome": "error", "error": error, "times": 3}])

    assert "The last one said: line one line two xxx" in watched.finding.guidance
    assert "xxx the end. Do not" in watched.finding.guidance
    assert len(watched.finding.guidance) < 600


def test_tools_and_errors_without_a_text_have_a_word(watch):
    """Neither the name nor the error text is sure to be traced."""
    watched = watch(ToolFailureStreak())

    watched.play([{"result": "", "outcome": "error", "times": 3}])

    assert watched.finding.evidence["tools"] == "unnamed tool"
    assert watched.finding.evidence["error"] == "an error without a text"
