"""What holds for some tools and agents alone, as the engine goes by it."""

from typing import Any

import pytest

from otel_watchdog import (
    Mode,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    Watchdog,
    WatchdogConfig,
)


class Watched:
    """An agent whose calls are watched, and what came of it."""

    def __init__(self, agent="fixer", **settings):
        self.held: list[Any] = []
        self.corrections = []
        usual = {"mode": Mode.FEEDBACK, "refractory_seconds": 0, "refractory_turns": 0}
        self.watchdog = Watchdog(
            config=WatchdogConfig(**(usual | settings)), on_suppressed=self.held.append
        )
        self.watchdog.observe(RunStarted("s", "r", agent))

    def calls(self, name, arguments="{}", result="a b", *, times=1, first=1):
        """Make a call a turn."""
        for turn in range(first, first + times):
            for seen in (
                ToolCall("s", turn, name, arguments.replace("#", str(turn))),
                ToolResult("s", turn, name, ToolOutcome.OK, result.replace("#", str(turn))),
            ):
                correction = self.watchdog.observe(seen)
                if correction is not None:
                    self.corrections.append(correction)
        return [correction.turn for correction in self.corrections]


def test_an_exempt_tool_is_found_and_listed_and_never_corrected():
    """With the reason."""
    agent = Watched(tools={"ping_*": {"exempt": True}})

    assert agent.calls("ping_host", times=6) == []
    assert {(one.reason, one.turn) for one in agent.held} >= {("exempt", 3)}
    assert agent.calls("ls", times=3, first=7) == [9]


def test_an_exempt_agent_is_never_corrected():
    """By a pattern of its name."""
    agent = Watched("nightly-report", agents={"nightly-*": {"exempt": True}})

    assert agent.calls("ls", times=9) == []
    assert {one.reason for one in agent.held} == {"exempt"}


def test_a_poll_is_given_time():
    """A tool whose name does not tell it is declared one."""
    assert Watched().calls("deployment", times=4) == [3]
    assert Watched(tools={"deployment": {"poll": True}}).calls("deployment", times=4) == []


def test_what_ended_before_a_poll_begins_is_no_poll():
    """A rule is about its own tool's calls, not about the call that ended before."""
    agent = Watched(tools={"deployment": {"poll": True}})
    agent.calls("ls")
    ended = agent.watchdog._sessions["s"].progress.exchange

    agent.watchdog.observe(ToolCall("s", 2, "deployment", "{}"))

    assert ended is not None
    assert not ended.is_poll


def test_the_loop_key_says_which_calls_are_the_same():
    """Whatever the other arguments."""
    rules = {"find": {"loop_key": ["q"]}}

    assert Watched().calls("find", '{"q": "a", "page": "#"}', "page #", times=4) == []
    assert Watched(tools=rules).calls("find", '{"q": "a", "nonce": "#"}', times=3) == [3]
    assert Watched(tools=rules).calls("find", '{"q": "#"}', "hit #", times=4) == []


@pytest.mark.parametrize("arguments", [None, "[1]", "not json", '"text"'])
def test_arguments_that_are_no_object_are_left_alone(arguments):
    """There is nothing to choose from."""
    watchdog = Watchdog(config=WatchdogConfig.load(tools={"find": {"loop_key": ["q"]}}))

    assert watchdog.observe(ToolCall("s", 1, "find", arguments)) is None


def test_a_tool_has_thresholds_of_its_own():
    """They hold for it alone."""
    rules = {"run_tests": {"detectors": {"unchanged_result": {"threshold": 5}}}}
    only = {"profile": "standard", "tools": rules}

    assert Watched(**only).calls("run_tests", times=4) == []
    assert Watched(**only).calls("run_tests", times=5) == [5]
    assert Watched(**only).calls("ls", times=3) == [3]


def test_a_detector_may_leave_a_tool_alone():
    """The others still look at it."""
    rules = {"ls": {"detectors": {"unchanged_result": False}}}

    agent = Watched(tools=rules, detectors={"repeated_tool_call": {"threshold": 4}})

    assert agent.calls("ls", times=4) == [4]
    assert agent.corrections[0].finding.detector == "repeated_tool_call"


def test_an_agent_has_thresholds_of_its_own():
    """By the name that its run begins with."""
    rules = {"rev*": {"detectors": {"unchanged_result": {"threshold": 5}}}}

    assert Watched("reviewer", agents=rules).calls("ls", times=5) == [5]
    assert Watched("fixer", agents=rules).calls("ls", times=3) == [3]


def test_an_agents_floor_wins_over_its_categorys():
    """The closest word counts."""
    rules = {"rev*": {"category": "login", "min_turns": 8}}
    categories = {"login": {"min_turns": 20}}

    agent = Watched("reviewer", agents=rules, categories=categories)

    assert agent.calls("ls", times=9)[0] >= 8
    assert agent.corrections[0].category_from == "agent"


def test_what_the_trace_says_of_the_category_wins():
    """Over names and tools."""
    agent = Watched(categories={"slow": {"min_turns": 9}, "fast": {"agents": ["fix*"]}})
    agent.watchdog.categorize("s", "slow")

    assert agent.calls("ls", times=8) == []


def test_an_exact_name_is_before_a_pattern():
    """Whatever their order."""
    agent = Watched(tools={"*": {"exempt": True}, "ls": {"exempt": False}})

    assert agent.calls("ls", times=3) == [3]
