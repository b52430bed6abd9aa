"""Recordings in every form give the same runs, judged as they would have been live."""

import io
import json

import pytest

from otel_watchdog import Mode, RepeatedToolCall, WatchdogConfig, replay
from otel_watchdog.judge_settings import JudgeSettings
from tests.otel_watchdog.judge_cases import Scripted
from tests.otel_watchdog.recordings.recording_cases import (
    FILES,
    calls,
    event,
    request,
    shapes,
    tool_span,
)


def test_agents_in_one_trace_have_sessions_named_after_their_conversations():
    """What they share, their order says; each carries its agent."""
    (run,) = replay.read(FILES / "multi_pydantic_ai__parallel_agents.json")

    assert run.id == "multi_pydantic_ai__parallel_agents"
    assert sorted((s.agent, s.runs, s.calls) for s in run.sessions) == [
        (f"worker_{n}", 1, 4) for n in range(3)
    ]
    assert len({session.id for session in run.sessions}) == 3


def test_a_conversation_that_becomes_known_late_names_its_session():
    """The tool span comes first, the model span tells the conversation."""
    model = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "conversation-1"}
    content = json.dumps(request(tool_span(), model)).encode()

    (run,) = shapes(content)

    assert [session["id"] for session in run["sessions"]] == ["conversation-1"]
    assert {one["session"] for one in run["observations"]} == {"conversation-1"}


def test_spans_of_nobody_are_a_quiet_run():
    """Programs without an agent have traces too."""
    (run,) = shapes(json.dumps(request({"http.method": "GET"})).encode())

    assert run["sessions"] == []
    assert run["findings"] == []


def test_findings_and_corrections_carry_the_place():
    """The shape is public."""
    content = json.dumps({"id": "r", "events": list(calls(5))}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall()])

    assert run["findings"] == [
        {
            "event": 8,
            "turn": 5,
            "session": "r",
            "detector": "repeated_tool_call",
            "kind": "loop",
            "severity": "critical",
            "reason": 'ls was called 5 times in a row with {"path":"a"}',
            "held": None,
        }
    ]
    (correction,) = run["corrections"]
    assert correction.pop("message").startswith("[watchdog]")
    assert correction == {
        "event": 8,
        "turn": 5,
        "n": 1,
        "tier": "nudge",
        "detector": "repeated_tool_call",
        "kind": "loop",
        "max_turns": None,
    }


def test_outcomes_say_what_came_of_corrections():
    """The recording goes on as if nothing had been said: a loop that goes on was ignored."""
    content = json.dumps({"id": "r", "events": list(calls(7))}).encode()
    config = WatchdogConfig(refractory_turns=0)

    (run,) = shapes(content, detectors=[RepeatedToolCall()], config=config)

    (outcome,) = run["outcomes"]
    assert outcome.pop("response") == "ls brought the same again from turn 6 on"
    assert outcome == {
        "event": 11,
        "turn": 6,
        "n": 1,
        "outcome": "ignored",
        "turns_to_heed": None,
    }


def test_a_finding_that_is_held_says_why():
    """Two detectors that fire at once are one correction; the other was merged into it."""
    content = json.dumps({"id": "r", "events": list(calls(5))}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall(), RepeatedToolCall()])

    assert [found["held"] for found in run["findings"]] == [None, "merged"]


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.FEEDBACK, Mode.ENFORCE])
def test_the_ladder_climbs_as_it_would_have_done(mode):
    """Each correction counts as given at the next turn."""
    content = json.dumps({"id": "r", "events": list(calls(25))}).encode()
    config = WatchdogConfig(mode=mode)

    (run,) = shapes(content, detectors=[RepeatedToolCall()], config=config)

    assert [(c["turn"], c["n"], c["tier"]) for c in run["corrections"]] == [
        (5, 1, "nudge"),
        (10, 2, "redirect"),
        (15, 3, "force-wrap"),
        (20, 4, "hard-stop"),
        (25, 5, "terminate"),
    ]


def test_what_stands_in_the_same_turn_was_not_corrected_yet():
    """The agent is given a correction at its next turn, not before."""
    batch = [event("tool_call", 1, name="ls", args={}, t=n * 100) for n in range(20)]
    content = json.dumps({"id": "r", "events": batch}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall(threshold=2)])

    assert len(run["corrections"]) == 1


def test_who_does_anothers_work_again_is_told_whose():
    """The second of two agents is corrected, the first is left alone."""
    topics = ("prices", "makers", "patents", "duties", "mines")
    events = [
        event(kind, agent=agent, turn=n + 1, name="search", result=result, args=args)
        for agent in ("ada", "ben")
        for n, topic in enumerate(topics)
        for kind, result, args in (
            ("tool_call", None, {"q": f"cobalt {topic} in 2024"}),
            ("tool_result", f"three pages about {topic}", None),
        )
    ]
    content = json.dumps({"id": "r", "events": events}).encode()

    (run,) = replay.read(io.BytesIO(content))

    (given,) = run.corrections
    assert given.session == "r/ben"
    assert given.correction.finding.detector == "duplicate_work"
    assert "the agent ada" in given.correction.message


def test_blind_detectors_say_what_they_lack_by_session():
    """What was not captured is unknown, and said."""
    (run,) = replay.read(
        FILES / "092-tool-spans-without-arguments.json", detectors=[RepeatedToolCall()]
    )

    assert run.findings == []
    assert run.blind[run.id]["repeated_tool_call"] == (
        "the arguments of tool calls are not captured"
    )


def test_a_span_that_one_of_our_parts_cannot_take_is_noted():
    """What comes from strangers never ends a replay."""
    content = json.dumps(request(tool_span(), tool_span())).encode()

    class Broken(RepeatedToolCall):
        def observe(self, *_):
            raise RuntimeError("oops")

    (run,) = replay.read(io.BytesIO(content), detectors=[Broken()])

    assert run.errors == ["repeated_tool_call failed: RuntimeError: oops"] * 2


def test_a_judge_is_asked_in_the_recordings_own_time():
    """At once, always at the same place; its findings and corrections stand where it was asked."""
    events = [event for number in range(1, 8) for event in new_call(number)]
    content = json.dumps({"id": "r", "events": events}).encode()

    first, second = (
        [run.as_json() for run in replay.read(io.BytesIO(content), judge=Scripted())]
        for _ in range(2)
    )

    (run,) = first
    assert first == second
    assert [check["event"] for check in run["drift_checks"]] == [11, 11]
    assert [check["verdict"] for check in run["drift_checks"]] == ["stuck", "stuck"]
    (correction,) = run["corrections"]
    assert (correction["event"], correction["tier"], correction["detector"]) == (
        11,
        "nudge",
        "judge",
    )
    assert [found["detector"] for found in run["findings"]] == ["judge"]


def test_nobody_is_asked_whatever_the_settings_say():
    """A replay costs nothing unless it is told to."""
    events = [event for number in range(1, 8) for event in new_call(number)]
    content = json.dumps({"id": "r", "events": events}).encode()
    config = WatchdogConfig(judge=JudgeSettings(model="openai:gpt-5-mini"))

    (run,) = replay.read(io.BytesIO(content), config=config)

    assert list(run.checks) == []
    assert "drift_checks" not in run.as_json()


def new_call(number):
    said = f"page {number * 104729}: nothing"
    yield event(
        "tool_call", turn=number, name="search", args={"q": number * 7919}, call_id=f"c{number}"
    )
    yield event("tool_result", turn=number, name="search", result=said, call_id=f"c{number}")
