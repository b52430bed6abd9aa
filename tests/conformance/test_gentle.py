"""Profile `gentle` against the rules of a watchdog inside a harness, case by case."""

import json
from pathlib import Path
from typing import Any

import pytest

from otel_watchdog import (
    ConfigError,
    Mode,
    ModelTurn,
    Profile,
    RunStarted,
    Tier,
    ToolCall,
    ToolOutcome,
    ToolResult,
    Watchdog,
    WatchdogConfig,
)

CASES = json.loads((Path(__file__).parent / "testdata" / "gentle.json").read_text("utf-8"))["cases"]
SECONDS_PER_TURN = 60.0
THOUGHT = "I should read the parser before anything else."
OTHERS = [f"Fact number {word} of the codebase is plain." for word in ("one", "two", "three")] + [
    "Builds take a while on this machine.",
    "Nobody has touched the lexer lately.",
    "Integration tests need a database server.",
]


class Watched:
    """A watched agent that takes each nudge before its next turn."""

    def __init__(self, **settings):
        self.found: list[Any] = []
        self.held: list[Any] = []
        self.corrections: list[Any] = []
        self.turn = 0
        self._waiting = None
        self.watchdog = Watchdog(
            config=WatchdogConfig(profile=Profile.GENTLE, mode=Mode.ENFORCE, **settings),
            on_finding=lambda finding, seen: self.found.append([seen.turn, finding.detector]),
            on_suppressed=self.held.append,
        )
        self.start("r1")

    def start(self, run):
        """Begin a run."""
        self.turn = 0
        self._waiting = None
        self.see(RunStarted("s", run, "coder"))

    def takes(self, turn):
        """Take a turn: calls, or words."""
        if self._waiting is not None:
            self.watchdog.claim(self._waiting)
            self._waiting = None
        self.turn += 1
        said, calls = (turn["says"], []) if isinstance(turn, dict) else ("", turn)
        self.see(ModelTurn("s", self.turn, self._now, said, tool_calls=len(calls)))
        for number, (name, arguments, _, _) in enumerate(calls):
            self.see(ToolCall("s", self.turn, name, self._written(arguments), f"c{number}"))
        for number, (name, _, outcome, result) in enumerate(calls):
            text = result.replace("#", str(self.turn))
            answer = ToolResult("s", self.turn, name, ToolOutcome(outcome), text)
            self.see(answer._replace(call_id=f"c{number}", time=self._now))

    @property
    def _now(self):
        return self.turn * SECONDS_PER_TURN

    def _written(self, arguments):
        return json.dumps(arguments).replace("#", str(self.turn))

    def see(self, observation):
        """Show an observation."""
        correction = self.watchdog.observe(observation)
        if correction is not None:
            self.corrections.append(correction)
            self._waiting = correction


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case):
    """Each finding stands at its turn, and there is no other."""
    agent = Watched()

    for _ in range(case.get("repeat", 1)):
        for turn in case["turns"]:
            agent.takes(turn)

    assert agent.found == case["expect"]


def failing(times):
    """Return turns in which a call fails."""
    return [[["a", {"n": "#"}, "error", "e#"]]] * times


def test_nudges_grow_no_firmer():
    """As often as it is needed, and never more than a nudge."""
    agent = Watched()

    for turn in failing(30):
        agent.takes(turn)

    assert {c.tier for c in agent.corrections} == {Tier.NUDGE}
    assert len(agent.corrections) > 5


@pytest.mark.parametrize(("interrupt", "ends"), [(True, True), (False, False)])
def test_the_third_thought_ends_the_run(interrupt, ends):
    """Two nudges, then the run is over, if that is wanted."""
    agent = Watched(policy={"spaced": {"interrupt": interrupt}})

    for _ in range(6):
        for text in OTHERS + [THOUGHT] * 4:
            agent.takes({"says": text})

    assert [c.tier for c in agent.corrections][:2] == [Tier.NUDGE] * 2
    assert (Tier.TERMINATE in {c.tier for c in agent.corrections}) is ends
    if ends:
        last = agent.corrections[2]
        assert last.max_turns == last.turn
    else:
        assert "cap" in {one.reason for one in agent.held}


def test_nothing_is_said_while_a_sub_agent_works():
    """A parent that waits is not stuck."""
    agent = Watched()
    agent.see(ToolCall("s", 0, "run_subagent", "{}", "helper"))
    for turn in failing(4):
        agent.takes(turn)
    before = list(agent.corrections)

    agent.see(ToolResult("s", 4, "run_subagent", ToolOutcome.OK, "done", call_id="helper"))
    for turn in failing(3):
        agent.takes(turn)

    assert before == []
    assert {one.reason for one in agent.held} >= {"delegated"}
    assert len(agent.corrections) == 1


def test_a_new_run_begins_anew():
    """Counts of turns and the budget for thoughts are a run's."""
    agent = Watched()
    for turn in [[["grep", {"q": "#"}, "empty", "no matches"]]] * 3:
        agent.takes(turn)

    agent.start("r2")
    agent.takes([["grep", {"q": "again"}, "empty", "no matches"]])

    assert agent.found == []


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"detectors": {"repeated_thought": {"loose": 4}}}, "repeated_thought.loose"),
        ({"detectors": {"repeated_thought": {"window_sentences": 5}}}, "window_sentences"),
        ({"detectors": {"tool_call_cycle": {"max_period": 1}}}, "max_period"),
        ({"detectors": {"tool_failure_streak": {"threshhold": 3}}}, "did you mean threshold"),
        ({"detectors": {"tool_failure_streak": {"threshold": 3.5}}}, "must be a whole number"),
        ({"detectors": {"tool_failure_streak": {"threshold": True}}}, "must be a whole number"),
        ({"refractory_seconds": -1}, "refractory_seconds"),
    ],
)
def test_wrong_settings_fail_at_start(settings, named):
    """Each is named with what is allowed."""
    with pytest.raises(ConfigError, match=named):
        Watchdog(config=WatchdogConfig.load(profile="gentle", **settings))
