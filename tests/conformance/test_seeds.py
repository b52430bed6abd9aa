"""Profile `classic` against the published rules of go-steer/core-agent, case by case."""

import json
from pathlib import Path

import pytest

from otel_watchdog import (
    Mode,
    ModelTurn,
    Profile,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    Watchdog,
    WatchdogConfig,
)
from otel_watchdog.profiles import CLASSIC

CASES = json.loads((Path(__file__).parent / "testdata" / "seeds.json").read_text("utf-8"))["cases"]

NAMES = {
    "repeated-tool-call": "repeated_tool_call",
    "alternating-tool-cycle": "tool_call_cycle",
    "dominant-tool-call": "dominant_tool_call",
    "repeated-tool-name": "repeated_tool_name",
    "tool-failure-streak": "tool_failure_streak",
    "no-op-streak": "no_op_streak",
    "no-new-state": "no_new_state",
    "tools-without-text": "tools_without_text",
}
"""Ours, by theirs, in the order in which they are asked."""

DETECTORS = {"expect_v2_9": CLASSIC[:5], "expect_head": CLASSIC}


def observations(events):
    """Yield what the events of a case say, each call a turn of its own."""
    turn = 0
    for index, event in enumerate(events):
        match event["k"]:
            case "call":
                turn += 1
                yield ToolCall("s", turn, event["name"], event["args"])
            case "result":
                yield result(event, index, turn)
            case "text":
                yield ModelTurn("s", turn + 1, text=event["text"])
            case "turn":
                turn = 0
                yield RunStarted("s", f"run {index}")


def result(event, index, turn):
    """Return a result that carries what the event says; without a digest it is like no other."""
    outcome = ToolOutcome.ERROR if event.get("error") else ToolOutcome.OK
    text = event.get("digest", f"result {index}") or None
    if event.get("no_op"):
        text = json.dumps({"no_op": True, "detail": f"result {index}"})
    return ToolResult("s", turn, event["name"], outcome, text, event.get("error"))


def findings(events, detectors, *, mode, claims=False):
    """Return index, detector and severity of each finding in profile `classic`."""
    found = []
    fired = []
    watchdog = Watchdog(
        config=WatchdogConfig(profile=Profile.CLASSIC, mode=mode),
        detectors=[detector() for detector in detectors],
        on_finding=lambda finding, _: fired.append(finding),
    )
    for index, observation in enumerate(observations(events)):
        correction = watchdog.observe(observation)
        if correction and claims:
            watchdog.claim(correction)
        found += [[index, finding.detector, finding.severity.value] for finding in fired]
        fired.clear()
    return found


def expected(case, expectation):
    """Return what is to be found, in our words."""
    return [[index, NAMES[name], severity] for index, name, severity in case[expectation]]


def test_every_detector_is_bound():
    """What is built in is what was published, in its order."""
    assert list(NAMES.values()) == [make().name for make in CLASSIC]


@pytest.mark.parametrize("expectation", DETECTORS)
@pytest.mark.parametrize("name", CASES)
def test_finds_what_was_published(name, expectation):
    """Each finding stands at its event with its severity, and there is no other."""
    case = CASES[name]

    found = findings(case["events"], DETECTORS[expectation], mode=Mode.OBSERVE)

    assert found == expected(case, expectation)


@pytest.mark.parametrize("name", CASES)
def test_claimed_corrections_change_nothing(name):
    """In `classic` a streak is found once, also where the agent was corrected and goes on."""
    case = CASES[name]

    found = findings(case["events"], CLASSIC, mode=Mode.FEEDBACK, claims=True)

    assert found == expected(case, "expect_head")


@pytest.mark.parametrize("name", CASES)
def test_the_default_watchdog_is_the_newer_set(name):
    """Without a choice of detectors, all that are built in are asked."""
    case = CASES[name]
    found = []
    watchdog = Watchdog(
        config=WatchdogConfig(profile=Profile.CLASSIC, mode=Mode.OBSERVE),
        on_finding=lambda finding, _: found.append(finding.detector),
    )

    for observation in observations(case["events"]):
        watchdog.observe(observation)

    assert found == [detector for _, detector, _ in expected(case, "expect_head")]
