"""`tools_without_text` against its cases in testdata/."""

import json
import re
from pathlib import Path

import pytest

from otel_watchdog import ConfigError, Kind, Severity
from otel_watchdog.detectors import ToolsWithoutText

CASES = json.loads(
    (Path(__file__).parent / "testdata" / "tools_without_text.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(ToolsWithoutText(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1}, "tools_without_text.threshold must be at least 2, got 1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        ToolsWithoutText(**options)


def test_finding_says_what_was_seen(watch):
    """Kind, severity, evidence and the operator's reason."""
    watched = watch(ToolsWithoutText())

    watched.play([{"call": "ls", "times": 12}])

    assert watched.finding.kind is Kind.NO_PROGRESS
    assert watched.finding.severity is Severity.WARN
    assert watched.finding.evidence == {"count": 12}
    assert watched.finding.reason == "12 tool calls were made without any text from the agent"
