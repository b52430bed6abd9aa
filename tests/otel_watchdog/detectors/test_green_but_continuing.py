"""`green_but_continuing` against its cases in testdata/: what fires, and honest work that must not."""

import json
import re
from pathlib import Path

import pytest

from otel_watchdog import ConfigError
from otel_watchdog.detectors import GreenButContinuing

CASES = json.loads(
    (Path(__file__).parent / "testdata" / "green_but_continuing.json").read_text("utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_fires_where_the_case_says(watch, case):
    """It fires on the observation that completes the pattern, and on no other."""
    watched = watch(GreenButContinuing(**case.get("options", {})))

    fired_at = watched.play(case["events"])

    assert fired_at == case["fires_at"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 1}, "green_but_continuing.threshold must be at least 2, got 1"),
    ],
)
def test_a_wrong_option_is_refused(options, message):
    """The message names the setting, what is allowed and the value given."""
    with pytest.raises(ConfigError, match=re.escape(message)):
        GreenButContinuing(**options)


def test_finding_speaks_to_both_readers(watch):
    """Operator and model are told what was seen, in words that suit them."""
    watched = watch(GreenButContinuing())

    watched.play(CASES[0]["events"])

    assert watched.finding.detector == GreenButContinuing.name
    assert watched.finding.reason
    assert "threshold" not in watched.finding.guidance
