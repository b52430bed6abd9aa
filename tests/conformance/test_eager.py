"""Profile `eager` against the rules of the 5-tier watchdog, case by case."""

import json
from pathlib import Path
from typing import Any

import pytest

from otel_watchdog import (
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

CASES = json.loads((Path(__file__).parent / "testdata" / "eager.json").read_text("utf-8"))["cases"]


class Watched:
    """A watched agent that takes each correction before its next turn, a turn in 60 seconds."""

    def __init__(self, *, category=None, claims=True, **settings):
        self.held: list[Any] = []
        self.corrections: list[Any] = []
        self.turn = 0
        self.claims = claims
        self._waiting = None
        self.watchdog = Watchdog(
            config=WatchdogConfig(profile=Profile.EAGER, mode=Mode.ENFORCE, **settings),
            on_suppressed=self.held.append,
        )
        self._see(RunStarted("s", "r", "tester"))
        if category:
            self.watchdog.categorize("s", category)

    def calls(self, times, name, arguments, outcome, result):
        """Make a call a turn; `#` is the turn's number."""
        for _ in range(times):
            if self._waiting is not None and self.claims:
                self.watchdog.claim(self._waiting)
                self._waiting = None
            self.turn += 1
            written = json.dumps(arguments).replace("#", str(self.turn))
            text = result.replace("#", str(self.turn))
            time = self.turn * 60.0
            self._see(ModelTurn("s", self.turn, time, "", tool_calls=1))
            self._see(ToolCall("s", self.turn, name, written, time=time))
            self._see(ToolResult("s", self.turn, name, ToolOutcome(outcome), text, time=time))

    def loop(self, times):
        """Make one and the same call a turn."""
        self.calls(times, "bash", {"command": "ls"}, "ok", "a b")

    def _see(self, observation):
        correction = self.watchdog.observe(observation)
        if correction is not None:
            self.corrections.append(correction)
            self._waiting = correction


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case):
    """Each correction stands at its turn and tier, and there is no other."""
    agent = Watched(category=case.get("category"))

    for turns in case["turns"]:
        agent.calls(*turns)

    assert [c.span_name for c in agent.corrections] == case["expect"]
    if "held" in case:
        assert case["held"] in {one.reason for one in agent.held}


def test_each_correction_is_a_tier_firmer_and_there_are_five():
    """Escalation is by count alone, and the sixth is held with its reason."""
    agent = Watched()

    agent.loop(80)

    assert [c.tier for c in agent.corrections] == list(Tier)
    assert "cap" in {one.reason for one in agent.held}


def test_hard_stop_leaves_ten_turns_and_terminate_three():
    """A cap is only ever lowered."""
    agent = Watched()

    agent.loop(80)
    hard, last = agent.corrections[3:]

    assert hard.max_turns == hard.turn + 10
    assert last.max_turns == min(hard.max_turns, last.turn + 3)


def test_no_new_tier_before_the_last_was_claimed():
    """What the agent was not given does not count."""
    agent = Watched(claims=False)

    agent.loop(60)

    assert [c.tier for c in agent.corrections] == [Tier.NUDGE]
    assert "unclaimed" in {one.reason for one in agent.held}


def test_the_floor_is_that_of_the_agents_category():
    """By name, by attribute, or inferred from its tools; the correction says which."""
    inferred = Watched()
    named = Watched(categories={"login": {"agents": ["test*"]}})
    for agent in (inferred, named):
        agent.calls(9, "oauth_login", {"user": "a"}, "ok", "a b")

    assert [(c.turn, c.category, c.category_from) for c in inferred.corrections][:1] == [
        (6, "login", "inferred")
    ]
    assert [(c.category, c.category_from) for c in named.corrections][:1] == [("login", "agent")]
