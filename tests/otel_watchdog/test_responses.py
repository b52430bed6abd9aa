"""What came of a correction, told by the turns that follow it."""

from typing import Any

import pytest

from otel_watchdog import (
    CorrectionOutcome,
    Mode,
    ModelTurn,
    RunEnded,
    RunStarted,
    Tier,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
    Watchdog,
    WatchdogConfig,
)
from otel_watchdog.detectors import DoneButContinuing, RepeatedText, SameError, UnchangedResult

HEEDED, IGNORED = CorrectionOutcome.HEEDED, CorrectionOutcome.IGNORED
RELAPSED, UNKNOWN = CorrectionOutcome.RELAPSED, CorrectionOutcome.UNKNOWN


class Agent:
    """An agent that is watched, and takes each correction before its next turn."""

    def __init__(self, *detectors, **settings):
        self.outcomes: list[Any] = []
        self.corrections = []
        self.turn = 0
        self._waiting = None
        usual = {"mode": Mode.FEEDBACK, "refractory_seconds": 0, "refractory_turns": 0}
        self.watchdog = Watchdog(
            config=WatchdogConfig(**(usual | settings)),
            detectors=detectors or [UnchangedResult()],
            on_outcome=self.outcomes.append,
        )
        self.start("r1")

    @property
    def told(self):
        """The outcomes so far."""
        return [outcome.outcome for outcome in self.outcomes]

    def start(self, run):
        """Begin a run."""
        self.turn = 0
        self._waiting = None
        self.watchdog.observe(RunStarted("s", run, "fixer"))

    def end(self):
        """End the run."""
        self.watchdog.observe(RunEnded("s", "r", self.turn))

    def says(self, text):
        """Answer with text and without a call."""
        self._begin(text, 0)

    def calls(self, name="ls", arguments="{}", result="a b", *, outcome=ToolOutcome.OK, times=1):
        """Make a call a turn."""
        for _ in range(times):
            self._begin(None, 1)
            self._see(ToolCall("s", self.turn, name, arguments))
            self._see(ToolResult("s", self.turn, name, outcome, result))

    def fails(self, name, result, arguments='{"n": 1}', times=1):
        """Make a failing call a turn."""
        self.calls(name, arguments, result, outcome=ToolOutcome.ERROR, times=times)

    def _begin(self, text, calls):
        if self._waiting is not None:
            self.watchdog.claim(self._waiting)
            self._waiting = None
        self.turn += 1
        self._see(ModelTurn("s", self.turn, text=text, tool_calls=calls))

    def _see(self, observation):
        correction = self.watchdog.observe(observation)
        if correction is not None:
            self.corrections.append(correction)
            self._waiting = correction


def test_the_same_call_again_is_ignored():
    """One more, with the same result and nothing changed, tells it at once."""
    agent = Agent()
    agent.calls(times=4)

    (outcome,) = agent.outcomes
    assert outcome.outcome is IGNORED
    assert (outcome.turn, outcome.turns_to_heed) == (4, None)
    assert outcome.correction is agent.corrections[0]
    assert outcome.span_name == "watchdog-outcome-turn-4"
    assert outcome.response == "ls brought the same again from turn 4 on"


def test_other_calls_with_new_results_are_heeded():
    """Told when the window is over; counted is to the first new result."""
    agent = Agent()
    agent.calls(times=3)
    for turn in range(4):
        agent.calls("read", f'{{"path": "{turn}"}}', f"text {turn}")

    (outcome,) = agent.outcomes
    assert outcome.outcome is HEEDED
    assert (outcome.turn, outcome.turns_to_heed) == (7, 1)
    assert outcome.response == "turned to read in turn 4"


def test_turns_to_heed_counts_the_turns_without_anything_new():
    """Thinking aloud first, then acting: two turns."""
    agent = Agent()
    agent.calls(times=3)
    agent.says("I see.")
    agent.calls("read", '{"path": "a"}', "text")
    agent.calls("read", '{"path": "b"}', "other text")
    agent.says("Done.")

    assert [(o.outcome, o.turns_to_heed) for o in agent.outcomes] == [(HEEDED, 2)]


def test_calls_end_the_window_as_turns_do():
    """An agent that makes many calls a turn is judged after eight."""
    agent = Agent(response_turns=100, response_calls=4)
    agent.calls(times=3)
    for number in range(4):
        agent.calls("read", f'{{"path": "{number}"}}', f"text {number}")

    assert agent.told == [HEEDED]


def test_a_reworded_call_with_the_same_result_is_ignored():
    """Other words, same answer: nothing was changed."""
    agent = Agent()
    agent.calls("find", '{"q": "a"}', "nothing of that name is here", times=3)
    agent.calls("find", '{"q": "b"}', "nothing of that name is here")

    assert agent.told == [IGNORED]


def test_the_same_error_by_another_call_is_ignored():
    """The root cause counts, not the call."""
    agent = Agent(SameError(threshold=3))
    agent.fails("deploy", "Error: disk quota exceeded", times=3)
    agent.fails("copy", "Error: disk quota exceeded", '{"to": "x"}')

    assert agent.told == [IGNORED]


def test_a_test_run_after_an_edit_is_a_try():
    """What was changed in between deserves its answer; a second failure is ignored."""
    agent = Agent(SameError(threshold=3))
    agent.fails("run_tests", "Error: 1 failed", times=3)
    agent.calls("write_file", '{"path": "a.py", "content": "1"}', "written")
    agent.fails("run_tests", "Error: 1 failed")
    first = list(agent.told)
    agent.fails("run_tests", "Error: 1 failed")

    assert (first, agent.told) == ([], [IGNORED])


def test_calls_that_bring_nothing_new_are_ignored():
    """The agent that accepts a correction and changes nothing: busy, and going nowhere."""
    agent = Agent()
    agent.calls("read", '{"path": "a"}', "first text")
    agent.calls("read", '{"path": "b"}', "second text")
    agent.calls(times=3)
    for path, text in (("a", "first text"), ("b", "second text"), ("a", "first text")):
        agent.calls("read", f'{{"path": "{path}"}}', text)
    agent.says("Hm.")

    assert agent.told == [IGNORED]


def test_a_relapse_is_found_however_late():
    """The memory of what was heeded outlives the window and the run."""
    agent = Agent()
    agent.calls(times=3)
    for number in range(30):
        agent.calls("read", f'{{"path": "{number}"}}', f"text {number}")
    agent.end()
    agent.start("r2")
    agent.calls(times=3)

    assert agent.told == [HEEDED, RELAPSED]
    assert agent.outcomes[1].correction is agent.corrections[0]


def test_what_is_remembered_is_bounded():
    """The oldest heeded correction is forgotten first."""
    agent = Agent(response_turns=1, max_corrections=5)
    for number in range(40):
        agent.start(f"r{number}")
        agent.calls(f"t{number}", times=3)
        agent.calls("read", f'{{"path": "{number}"}}', f"text {number}")
        agent.says("Next.")
    session = agent.watchdog._sessions["s"]

    assert agent.told.count(HEEDED) == 40
    assert len(session.responses._heeded) == 32


def test_a_run_that_ends_too_early_is_unknown():
    """Nothing was seen."""
    agent = Agent()
    agent.calls(times=3)
    agent.says("I stop here.")
    agent.end()

    assert agent.told == [UNKNOWN]


def test_another_run_ends_the_wait():
    """A run whose end was not told of is over when the next begins."""
    agent = Agent()
    agent.calls(times=3)
    agent.says("I stop here.")
    agent.start("r2")

    assert agent.told == [UNKNOWN]


def test_content_that_is_not_captured_is_unknown():
    """Unknown is never equal, and never new."""
    agent = Agent()
    agent.calls(times=3)
    agent.calls("read", None, None, times=4)

    assert agent.told == [UNKNOWN]


def test_who_was_told_to_hand_over_and_did_has_heeded():
    """From force-wrap on, the end of the run is what was asked for."""
    agent = Agent()
    while not agent.corrections or agent.corrections[-1].tier < Tier.FORCE_WRAP:
        agent.calls()
    before = len(agent.told)
    agent.says("Here is what I have.")
    agent.end()

    assert agent.told[before:] == [HEEDED]


def test_who_was_finished_and_stops_has_heeded():
    """Told to hand over, an agent that ends its run did so."""
    agent = Agent(DoneButContinuing())
    agent.says("The task is complete.")
    for _ in range(3):
        agent.says("Thank you, goodbye!")
    agent.says("Here it is: the report lies in out.md, with three tables and a summary.")
    agent.end()

    assert agent.told == [HEEDED]


def test_the_same_words_again_are_ignored():
    """Where it was messages that went round, messages are compared."""
    agent = Agent(RepeatedText())
    text = "I am waiting for the next instruction from the team lead before going on"
    for _ in range(4):
        agent.says(text)

    assert agent.told == [IGNORED]


def test_other_words_are_heeded():
    """Or a call: talk was what went round."""
    agent = Agent(RepeatedText())
    for _ in range(3):
        agent.says("I am waiting for the next instruction from the team lead before going on")
    for number in range(4):
        agent.calls("read", f'{{"path": "{number}"}}', f"text {number}")

    assert agent.told == [HEEDED]


def test_waiting_and_thinking_are_no_answer():
    """They neither heed nor ignore."""
    agent = Agent(response_turns=100)
    agent.calls(times=3)
    agent.calls("think", '{"thought": "x"}', "", times=9)

    assert agent.told == []


def test_late_results_of_the_turn_before_do_not_count():
    """They belong to what the agent did before it was told."""
    agent = Agent()
    agent.calls(times=3)
    agent.says("I see.")
    agent.watchdog.observe(ToolResult("s", 3, "ls", ToolOutcome.OK, "a b"))

    assert agent.told == []


def test_an_unclaimed_correction_has_no_outcome():
    """The agent was told nothing."""
    outcomes: list[Any] = []
    watchdog = Watchdog(
        config=WatchdogConfig(mode=Mode.FEEDBACK),
        detectors=[UnchangedResult()],
        on_outcome=outcomes.append,
    )
    for turn in range(1, 20):
        watchdog.observe(ToolCall("s", turn, "ls", "{}"))
        watchdog.observe(ToolResult("s", turn, "ls", ToolOutcome.OK, "a b"))

    assert outcomes == []


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.OFF])
def test_what_is_not_delivered_has_no_outcome(mode):
    """In observe, nobody was told anything."""
    agent = Agent(mode=mode)
    agent.calls(times=20)

    assert agent.outcomes == []


def test_a_heeded_correction_takes_the_next_one_a_rung_down():
    """A relapse resumes where it had left."""
    agent = Agent()
    agent.calls(times=4)
    agent.calls("find", "{}", "x y", times=5)
    tiers = [c.tier for c in agent.corrections]
    for number in range(5):
        agent.calls("read", f'{{"path": "{number}"}}', f"text {number}")
    agent.calls("stat", "{}", "z z", times=3)

    assert agent.told[-1] is HEEDED
    assert agent.corrections[-1].tier == max(tiers)


def test_an_ignored_correction_may_skip_a_rung():
    """A setting, off by default."""
    agent = Agent(skip_ignored=True)
    agent.calls(times=9)

    assert [c.tier for c in agent.corrections][:2] == [Tier.NUDGE, Tier.FORCE_WRAP]


def test_a_user_message_is_no_answer():
    """Somebody else spoke."""
    agent = Agent()
    agent.calls(times=3)
    agent.says("I see.")
    agent.watchdog.observe(UserMessage("s", agent.turn, "go on"))

    assert agent.told == []
