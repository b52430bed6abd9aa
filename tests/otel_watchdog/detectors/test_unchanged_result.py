"""`unchanged_result` against its cases in testdata/: what fires, and honest work that must not."""

import json
import re
from pathlib import Path

import pytest

from otel_watchdog import ConfigError
from otel_watchdog.detectors import UnchangedResult

CASES = json.loads(
    (Path(__file__).parent / "testdata" / "unchanged_result.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(UnchangedResult(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1}, "unchanged_result.threshold must be at least 2, got 1"),
        (
            {"critical_threshold": 2},
            "unchanged_result.critical_threshold must be at least threshold (3), got 2",
        ),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        UnchangedResult(**options)


def test_finding_speaks_to_both_readers(watch):
    """Operator and model are told what was seen, in words that suit them."""
    watched = watch(UnchangedResult())

    watched.play(CASES[0]["events"])

    assert watched.finding.detector == UnchangedResult.name
    assert watched.finding.reason
    assert "threshold" not in watched.finding.guidance


def test_a_call_that_fails_is_not_told_to_use_its_result(watch):
    """What failed gave nothing to use: the text goes by how the call ended."""
    watched = watch(UnchangedResult())
    failed = {"result": "ls", "outcome": "error", "error": "boom", "text": "Error: boom"}

    watched.play([{"times": 3, "events": [{"call": "ls"}, failed]}])

    assert "same result" not in watched.finding.guidance
    assert "Use what it gave you" not in watched.finding.guidance
    assert "failed in one and the same way" in watched.finding.guidance
    assert watched.finding.reason == "ls failed alike 3 times with {}"
