"""Correction texts kept in Langfuse."""

import pytest

from otel_watchdog import RepeatedToolCall, Tier, ToolCall, Watchdog, WatchdogConfig
from otel_watchdog.errors import InputError
from otel_watchdog.reviews.langfuse import LangfusePrompts, push_prompts
from otel_watchdog.telemetry import correction_attributes
from otel_watchdog.testing import finding
from otel_watchdog.wording import message


@pytest.fixture
def words(client):
    """Return what makes wordings that have looked once."""
    made = []

    def make():
        made.append(LangfusePrompts(client))
        assert made[-1].wait(5)
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_prompt_words_the_correction(words, fake):
    """Its fields are filled in, and the marker is put before it."""
    fake.prompts["watchdog/nudge"] = ("Careful! {{guidance}} {{ turns_left }}", 4)

    said = words()(finding(), Tier.NUDGE, turns_left=None)

    assert said.message == f"[watchdog] Careful! {finding().guidance}"
    assert (said.prompt, said.version) == ("watchdog/nudge", 4)


def test_a_detector_may_have_its_own(words, fake):
    """The closer name counts; `{{default}}` is the built-in text."""
    fake.prompts["watchdog/nudge"] = ("for all", 1)
    fake.prompts["watchdog/repeated_tool_call/nudge"] = ("{{default}} Really.", 2)

    said = words()(finding(), Tier.NUDGE, turns_left=None)

    assert said.message == f"{message(finding(), Tier.NUDGE)} Really."
    assert said.message.count("[watchdog]") == 1


def test_without_a_prompt_the_built_in_text_stays(words):
    """No prompt, no name."""
    said = words()(finding(), Tier.HARD_STOP, turns_left=3)

    assert said == (message(finding(), Tier.HARD_STOP, turns_left=3), None, None)


def test_langfuse_down_leaves_the_built_in_text(words, fake, caplog):
    """It is logged once, and the agent is corrected all the same."""
    fake.status = 500

    said = words()(finding(), Tier.NUDGE, turns_left=None)

    assert said.message == message(finding(), Tier.NUDGE)
    assert "texts stay" in caplog.text


def test_the_correction_says_which_prompt(words, fake):
    """Name and version stand on the span, as facts and as metadata."""
    fake.prompts["watchdog/nudge"] = ("{{guidance}}", 7)
    config = WatchdogConfig(min_turns=0)
    watchdog = Watchdog(config=config, detectors=[RepeatedToolCall(threshold=2)], wording=words())

    calls = [ToolCall("s", turn, "ls", "{}") for turn in (1, 2)]
    (correction,) = [made for call in calls if (made := watchdog.observe(call))]

    attributes = correction_attributes(correction)
    assert attributes["watchdog.prompt.name"] == "watchdog/nudge"
    assert attributes["langfuse.observation.metadata.watchdog.prompt.version"] == 7
    assert correction.message.startswith("[watchdog] You have called ls")


def test_built_in_texts_can_be_put_there(client, fake, words):
    """One prompt a tier; what is there already is left alone; they read as the built-in ones."""
    fake.prompts["watchdog/nudge"] = ("mine", 3)

    made = push_prompts(client)

    assert made == [f"watchdog/{tier.label}" for tier in Tier if tier is not Tier.NUDGE]
    assert fake.prompts["watchdog/nudge"] == ("mine", 3)
    said = words()(finding(), Tier.TERMINATE, turns_left=3)
    assert said.message == message(finding(), Tier.TERMINATE, turns_left=3)


def test_a_refusal_is_said_in_one_sentence(client, fake):
    """The status that Langfuse answered stands in it."""
    fake.status = 401

    with pytest.raises(InputError, match="Langfuse answered 401"):
        push_prompts(client)


def test_a_judge_is_told_of_its_task_by_a_prompt(client, fake, words):
    """The built-in text is put there, edited there, and comes back with its name and version."""
    assert push_prompts(client, instructions="Say whether it progresses.")[-1] == (
        "watchdog/drift-check"
    )
    fake.prompts["watchdog/drift-check"] = ("Say so in one word.", 5)

    told = words().instructions("Say whether it progresses.")

    assert told == ("Say so in one word.", "watchdog/drift-check", 5)


def test_without_a_prompt_a_judge_has_the_built_in_text(words):
    """No prompt, no name."""
    assert words().instructions("Say so.") == ("Say so.", None, None)
