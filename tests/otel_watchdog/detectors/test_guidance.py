"""What every detector says to the model, taken from the first case of each that fires."""

import copy
import json
import re
from pathlib import Path

import pytest

from otel_watchdog.detectors import BUILT_IN
from otel_watchdog.profiles import CLASSIC
from otel_watchdog.wording import shortened

OPERATOR_WORDS = re.compile(
    r"threshold|operator|setting|option|profile|detector|watchdog|config|window|interrupt|--|cost"
    r"|budget|critical|warn",
    re.IGNORECASE,
)
CLAIMS_EQUAL_RESULTS = re.compile(r"identical|same (result|answer|output|error)", re.IGNORECASE)
CLAIMS_NOTHING_OF_RESULTS = {"repeated_tool_name", "tool_failure_streak", "tools_without_text"}
ONE_WAY_OUT = re.compile(r"\b(use|take|go on|say|work with|hand over)\b", re.IGNORECASE)


@pytest.fixture(params=BUILT_IN, ids=lambda cls: cls.name)
def finding(request, watch):
    """The first finding of a detector's own cases."""
    path = Path(__file__).parent / "testdata" / f"{request.param.name}.json"
    case = next(case for case in json.loads(path.read_text("utf-8")) if case["fires_at"])
    watched = watch(request.param(**case.get("options", {})))
    watched.play(case["events"])
    return watched.finding


def test_names_the_detector(finding):
    """A finding is found again by the name under which the detector is listed."""
    assert finding.detector in {cls.name for cls in BUILT_IN}


def test_guidance_is_free_of_operator_words(finding):
    """The model can do nothing about settings, and must not be told how to get around them."""
    assert OPERATOR_WORDS.search(finding.guidance) is None


def test_guidance_says_how_often(finding):
    """The model is told a count, the one that stands in the evidence."""
    assert str(finding.evidence["count"]) in finding.guidance


def test_guidance_shows_a_way_out(finding):
    """It ends in something that can be done, in full sentences."""
    assert ONE_WAY_OUT.search(finding.guidance)
    assert finding.guidance.endswith(".")


def test_guidance_claims_no_more_than_was_seen(finding):
    """A detector that does not look at results says nothing of their being equal."""
    claim = CLAIMS_EQUAL_RESULTS.search(finding.guidance)

    assert finding.detector not in CLAIMS_NOTHING_OF_RESULTS or claim is None


def test_reason_and_guidance_are_two_texts(finding):
    """They speak to two readers."""
    assert finding.reason
    assert finding.reason not in finding.guidance


@pytest.mark.parametrize("cls", BUILT_IN, ids=lambda cls: cls.name)
def test_long_values_are_quoted_shortened(cls, watch):
    """However long the agent's names and arguments are, a finding stays short."""
    name = "x" * 5000
    watched = watch(cls())
    call = {"call": name, "arguments": {"text": name}, "times": 4}
    failed = {"result": name, "outcome": "error", "error": name, "times": 3}
    no_op = {"result": name, "text": '{"no_op": true}', "times": 3}
    other = [{"call": name, "arguments": {"text": i}, "result": None} for i in range(20)]

    watched.play([call, {"call": "b"}, call, *other, failed, no_op])

    assert all(len(value) <= len(shortened(name)) for value in texts(watched))


def texts(watched):
    """Return all texts of the evidence."""
    values = [value for _, finding in watched.findings for value in finding.evidence.values()]
    return [value for value in values if isinstance(value, str)]


def state(detector):
    """Return what a detector holds, by name: it has slots for that, and no dictionary."""
    return detector.__getstate__()[1]


@pytest.mark.parametrize("cls", CLASSIC, ids=lambda cls: cls.name)
def test_a_restarted_detector_is_as_good_as_new(cls, watch):
    """It forgets all its evidence, in the middle of each of its cases and at the end."""
    path = Path(__file__).parent / "testdata" / f"{cls.name}.json"
    for case in json.loads(path.read_text("utf-8")):
        used = cls(**case.get("options", {}))
        watched = watch(used)
        watched.play(case["events"])
        session = next(iter(watched.watchdog._sessions.values()))

        session.detectors[0].restart()

        assert state(session.detectors[0]) == state(cls(**case.get("options", {})))


@pytest.mark.parametrize("cls", BUILT_IN, ids=lambda cls: cls.name)
def test_copies_share_no_evidence(cls):
    """Each session has a copy of its own."""
    detector = cls()
    copied = copy.deepcopy(detector)

    shared = {
        name
        for name, value in state(detector).items()
        if value is state(copied)[name]
        and not isinstance(value, int | float | str | tuple | frozenset)
    }

    assert not {name for name in shared if state(detector)[name] is not None}
