"""The pydantic-ai adapter on the real framework, with models that follow a script."""

import pytest
from pydantic_ai import capture_run_messages
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import (
    DeltaToolCall,
    DeltaToolCalls,
    FunctionModel,
)

from otel_watchdog import (
    AgentHalted,
    Mode,
)
from otel_watchdog.adapters.pydantic_ai import RunHalted
from tests.otel_watchdog.adapters.pydantic_ai_cases import (
    THRESHOLD,
    Script,
    Watched,
    endless,
    run,
    said,
)

pytestmark = pytest.mark.usefixtures("loop")


def test_the_message_stands_in_the_very_next_request():
    """The model is told before it can make the same call once more, and told once."""
    model = Script(turns=5)

    Watched().agent(model).run_sync("go")

    assert model.told_at() == [THRESHOLD + 1]
    assert len(said(model.received[-1])) == 1


@pytest.mark.parametrize("batch", [2, 3, 4])
def test_the_message_comes_after_all_results_of_a_batch(batch):
    """Between parallel calls and their results nothing may stand."""
    model = Script(turns=3, batch=batch)

    Watched().agent(model).run_sync("go")

    told = model.told_at()[0]
    *_, answer, request = model.received[told - 1]
    kinds = [type(part) for part in request.parts]
    assert isinstance(answer, ModelResponse)
    assert kinds[:batch] == [ToolReturnPart] * batch
    assert kinds[batch:] == [UserPromptPart]


def test_an_ignoring_agent_is_led_up_the_ladder():
    """Nudge, redirect, force-wrap: each stands in the request after its own evidence."""
    watched, model = Watched(), Script(turns=3 * THRESHOLD)

    watched.agent(model).run_sync("go")

    assert watched.sent == ["nudge", "redirect", "force-wrap"]
    assert model.told_at() == [THRESHOLD * n + 1 for n in (1, 2, 3)]
    assert len(set(said(model.received[-1]))) == 3


def test_a_heeding_agent_finishes():
    """One nudge is all it takes."""
    watched, model = Watched(mode=Mode.ENFORCE), Script(heeds=True)

    result = watched.agent(model).run_sync("go")

    assert result.output == "done"
    assert watched.sent == ["nudge"]


def test_terminate_ends_the_run_three_turns_on():
    """Turn 15 is judged, turns 16 to 18 run, the nineteenth is refused: never a success."""
    watched, model = Watched(mode=Mode.ENFORCE), Script()

    with pytest.raises(RunHalted) as raised:
        watched.agent(model).run_sync("go", usage_limits=endless())

    last = watched.recorder.sent[-1]
    assert (last.turn, last.max_turns) == (5 * THRESHOLD, 5 * THRESHOLD + 3)
    assert len(model.received) == 5 * THRESHOLD + 3
    assert isinstance(raised.value, AgentHalted)
    assert isinstance(raised.value, AgentRunError)
    assert raised.value.correction_id == last.id
    assert raised.value.turn == 5 * THRESHOLD + 4
    assert raised.value.reason == last.finding.reason


def test_hard_stop_ends_the_run_ten_turns_on():
    """An agent that only stops looping after hard-stop has ten turns, not more."""
    watched = Watched(mode=Mode.ENFORCE, max_corrections=4)
    model = Script()

    with pytest.raises(RunHalted) as raised:
        watched.agent(model).run_sync("go", usage_limits=endless())

    assert watched.sent == ["nudge", "redirect", "force-wrap", "hard-stop"]
    assert raised.value.turn == 4 * THRESHOLD + 10 + 1
    assert len(model.received) == 4 * THRESHOLD + 10


def test_in_mode_feedback_a_cap_is_advice():
    """All five tiers are said, and the run goes on to its own end."""
    watched, model = Watched(), Script(turns=40)

    result = watched.agent(model).run_sync("go", usage_limits=endless())

    assert result.output == "done"
    assert watched.sent[-1] == "terminate"
    assert len(model.received) == 41


def test_in_mode_observe_nothing_is_said():
    """Neither sent nor seen by the model."""
    watched, model = Watched(mode=Mode.OBSERVE), Script(turns=20)

    watched.agent(model).run_sync("go")

    assert watched.sent == []
    assert model.told_at() == []


def test_a_pause_ends_deliveries_and_caps_at_once(monkeypatch):
    """Set while a capped run goes on, the variable frees it."""
    watched = Watched(mode=Mode.ENFORCE)
    model = Script(turns=30)

    def pausing(messages, info):
        if len(watched.sent) == 5:
            monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
        return model(messages, info)

    result = watched.agent(pausing).run_sync("go", usage_limits=endless())

    assert result.output == "done"
    assert len(model.received) == 31


def test_after_a_halt_the_next_run_is_free():
    """A cap is its run's; the conversation can be taken up again."""
    watched = Watched(mode=Mode.ENFORCE)
    agent = watched.agent(Script())
    with capture_run_messages() as messages, pytest.raises(RunHalted):
        agent.run_sync("go", usage_limits=endless())
    model = Script(turns=2)

    with agent.override(model=FunctionModel(model)):
        result = agent.run_sync("again", message_history=messages)

    assert result.output == "done"


def test_the_history_is_taken_by_a_second_run():
    """What we put into it is a message like any other, also when it goes through JSON."""
    watched = Watched()
    first = watched.agent(Script(turns=5)).run_sync("go")
    history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    model = Script(turns=0)

    second = watched.agent(model).run_sync("once more", message_history=history)

    assert second.output == "done"
    assert len(said(model.received[0])) == 1
    assert said(second.new_messages()) == []


@pytest.mark.parametrize("how", ["run_sync", "run", "run_stream", "iter"])
def test_each_way_to_run_an_agent_is_told(how, loop):
    """Blocking, awaited, streamed and step by step."""
    watched, model = Watched(), Script(turns=5)

    async def stream(messages, info):
        response = model(messages, info)
        for part in response.parts:
            if isinstance(part, ToolCallPart):
                calls: DeltaToolCalls = {
                    0: DeltaToolCall(
                        name=part.tool_name, json_args="{}", tool_call_id=part.tool_call_id
                    )
                }
                yield calls
            elif isinstance(part, TextPart):
                yield part.content

    output = run(watched.agent(model, stream=stream), how, loop)

    assert output == "done"
    assert model.told_at() == [THRESHOLD + 1]
    assert len(said(model.received[-1])) == 1
