"""The pydantic-ai adapter on the real framework, with models that follow a script."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent, ModelRetry, RunContext, UsageLimits, capture_run_messages
from pydantic_ai.capabilities import AbstractCapability, Instrumentation
from pydantic_ai.exceptions import AgentRunError, RetryModelRequest
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import (
    AgentInfo,
    DeltaToolCall,
    DeltaToolCalls,
    FunctionModel,
)
from pydantic_ai.models.instrumented import InstrumentationSettings

from otel_watchdog import (
    AgentHalted,
    Correction,
    Mode,
    RepeatedToolCall,
    WatchdogConfig,
    WatchdogSpanProcessor,
)
from otel_watchdog.adapters.pydantic_ai import RunHalted, WatchdogCapability
from otel_watchdog.testing import reraise

THRESHOLD = 3


@pytest.fixture(autouse=True)
def loop():
    """Give `run_sync`, which leaves one open, an event loop that is closed."""
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield runner
    asyncio.set_event_loop(None)


class Recorder:
    """A channel that keeps what is sent."""

    name: ClassVar[str] = "recorder"

    def __init__(self):
        self.sent: list[Correction] = []

    def send(self, correction):
        self.sent.append(correction)

    def close(self):
        pass


class Watched:
    """A provider with a watchdog, and what agents need to be watched by it."""

    def __init__(self, **settings):
        self.recorder = Recorder()
        self.provider = TracerProvider(shutdown_on_exit=False)
        defaults = {"mode": Mode.FEEDBACK, "refractory_seconds": 0, "refractory_turns": 0}
        self.watchdog = WatchdogSpanProcessor(
            config=WatchdogConfig(**(defaults | settings)),
            detectors=[RepeatedToolCall(threshold=THRESHOLD)],
            channels=[self.recorder],
            on_error=reraise,
        )
        self.provider.add_span_processor(self.watchdog)

    @property
    def sent(self):
        """Corrections sent so far, by tier."""
        return [correction.tier.label for correction in self.recorder.sent]

    def capabilities(self, *more):
        """Return what an agent needs."""
        settings = InstrumentationSettings(tracer_provider=self.provider)
        return [Instrumentation(settings), *more, WatchdogCapability(self.watchdog)]

    def agent(self, model, *more, name="fixer", stream=None):
        """Return an agent with a tool to look at things, that can be told how to look."""
        agent = Agent(
            FunctionModel(model, stream_function=stream),
            name=name,
            capabilities=self.capabilities(*more),
        )
        agent.tool_plain(look)
        return agent


def look(at: str = "it") -> str:
    """Return what stands there."""
    return f"nothing new in {at}"


@dataclass
class Script:
    """A model that makes the same call until it has done so `turns` times; notes what it got."""

    turns: int = 1000
    batch: int = 1
    heeds: bool = False
    fails_at: tuple[int, ...] = ()
    received: list[list[ModelMessage]] = field(default_factory=list)

    def __call__(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        self.received.append(list(messages))
        turn = len(self.received)
        if turn in self.fails_at:
            raise ConnectionError("the provider is down")
        if turn > self.turns or (self.heeds and said(messages)):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart("look", {}, f"call_{turn}_{n}") for n in range(self.batch)]
        )

    def told_at(self):
        """Return the model calls whose last request held a message of ours."""
        return [n for n, messages in enumerate(self.received, 1) if said(messages[-1:])]


def said(messages):
    """Return our messages among these."""
    return [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart) and str(part.content).startswith("[watchdog]")
    ]


def endless(limit=100):
    """Return the limits of a run that nobody else ends."""
    return UsageLimits(request_limit=limit)


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


def test_a_failed_model_call_neither_loses_nor_doubles_the_message():
    """The run is started again in its conversation: the message is in the first request."""
    watched, model = Watched(), Script(turns=5, fails_at=(THRESHOLD + 1,))
    agent = watched.agent(model)
    with pytest.raises(ConnectionError):
        agent.run_sync("go", conversation_id="c")

    agent.run_sync("go", conversation_id="c")

    assert model.told_at() == [THRESHOLD + 1, THRESHOLD + 2]
    assert len(said(model.received[-1])) == 1


def test_a_failed_model_call_whose_history_is_kept_does_not_double_the_message():
    """The history that the failed run left already holds it."""
    watched, model = Watched(), Script(turns=5, fails_at=(THRESHOLD + 1,))
    agent = watched.agent(model)
    with capture_run_messages() as messages, pytest.raises(ConnectionError):
        agent.run_sync("go", conversation_id="c")

    agent.run_sync("go on", message_history=messages, conversation_id="c")

    assert len(said(messages)) == 1
    assert [len(said(received)) for received in model.received[THRESHOLD:]] == [1, 1, 1]


def test_a_message_that_failed_often_is_said_once_and_counts_once():
    """Each retry holds it; the ladder goes on from redirect."""
    watched = Watched()
    model = Script(turns=3 * THRESHOLD, fails_at=(THRESHOLD + 1, THRESHOLD + 2, THRESHOLD + 3))
    agent = watched.agent(model)
    for _ in range(3):
        with pytest.raises(ConnectionError):
            agent.run_sync("go", conversation_id="c")

    agent.run_sync("go", conversation_id="c")

    assert said(model.received[THRESHOLD + 3]) == said(model.received[THRESHOLD])
    assert len(said(model.received[THRESHOLD + 3])) == 1


class Rejects(AbstractCapability):
    """Has the model asked again after its answers of these numbers."""

    def __init__(self, *answers):
        self._answers = answers
        self._seen = 0

    async def after_model_request(self, ctx, *, request_context, response):  # noqa: ARG002 - the hook's form
        self._seen += 1
        if self._seen in self._answers:
            raise ModelRetry("say it better")
        return response


def test_a_rejected_answer_does_not_double_the_message():
    """The model read it; the run goes on with a request to try again."""
    watched, model = Watched(), Script(turns=THRESHOLD)

    watched.agent(model, Rejects(THRESHOLD + 1)).run_sync("go")

    assert len(model.received) == THRESHOLD + 2
    assert len(said(model.received[-1])) == 1


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


def run(agent, how, loop):
    """Run an agent in one of the framework's ways; return its output."""

    async def streamed():
        async with agent.run_stream("go") as result:
            return await result.get_output()

    async def iterated():
        async with agent.iter("go") as running:
            async for _ in running:
                pass
        return running.result.output

    async def awaited():
        return (await agent.run("go")).output

    if how == "run_sync":
        return agent.run_sync("go").output
    return loop.run({"run": awaited, "run_stream": streamed, "iter": iterated}[how]())


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


def test_a_stream_that_is_given_up_does_not_double_the_message(loop):
    """The request went out; the next run of the conversation, history and all, holds it once."""
    watched, model = Watched(), Script(turns=THRESHOLD)

    async def stream(messages, info):
        model(messages, info)
        if len(model.received) <= THRESHOLD:
            yield {0: DeltaToolCall(name="look", json_args="{}", tool_call_id=f"c{len(messages)}")}
            return
        for word in ("a ", "long ", "answer"):
            yield word

    agent = watched.agent(model, stream=stream)

    async def give_up():
        async with agent.run_stream("go", conversation_id="c") as result:
            await anext(result.stream_text(debounce_by=None))
            return result.all_messages()

    history = loop.run(give_up())
    agent.run_sync("go on", message_history=history, conversation_id="c")

    assert len(said(model.received[-1])) == 1


class Recovers(AbstractCapability):
    """Asks the model again where it failed, as part of the same request."""

    async def on_model_request_error(self, ctx, *, request_context, error):  # noqa: ARG002 - the hook's form
        raise RetryModelRequest


def test_an_attempt_that_is_repeated_holds_the_message_once():
    """The framework's own retry of a failed call needs nothing of us."""
    watched, model = Watched(), Script(turns=5, fails_at=(THRESHOLD + 1,))

    watched.agent(model, Recovers()).run_sync("go")

    assert model.told_at() == [THRESHOLD + 1, THRESHOLD + 2]
    assert len(said(model.received[-1])) == 1


def test_a_cancelled_run_does_not_lose_the_message(loop):
    """Whoever starts the conversation anew finds it there."""
    watched, model = Watched(), Script(turns=5)

    called = asyncio.Event()

    async def hanging(messages, info):
        if len(model.received) == THRESHOLD:
            called.set()
            await asyncio.Event().wait()
        return model(messages, info)

    agent = watched.agent(hanging)

    async def cancelled():
        running = asyncio.create_task(agent.run("go", conversation_id="c"))
        await called.wait()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    loop.run(cancelled())
    with agent.override(model=FunctionModel(model)):
        agent.run_sync("go", conversation_id="c")

    assert model.told_at() == [THRESHOLD + 1]


def test_concurrent_runs_of_one_agent_get_their_own(loop):
    """One loops and is told so; the other works and is left alone."""
    watched = Watched()
    looping, working = Script(turns=5), []

    def model(messages, info):
        prompt = messages[0].parts[0].content
        if prompt == "loop":
            return looping(messages, info)
        working.append(list(messages))
        if len(working) > 5:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("look", {"at": f"file {len(working)}"})])

    agent = watched.agent(model)

    async def both():
        await asyncio.gather(agent.run("loop"), agent.run("work"))

    loop.run(both())

    assert looping.told_at() == [THRESHOLD + 1]
    assert said(working[-1]) == []


@pytest.mark.parametrize("shared", [True, False], ids=["one conversation", "two conversations"])
@pytest.mark.parametrize("loops", ["parent", "child"])
def test_parent_and_sub_agent_get_their_own(loops, shared):
    """A correction reaches the agent that it is about, also while the other runs."""
    watched = Watched()
    parents, children = [], []
    turns = THRESHOLD + 2

    def child_model(messages, _):
        children.append(list(messages))
        results = [m for m in messages if any(p.part_kind == "tool-return" for p in m.parts)]
        if len(results) >= (turns if loops == "child" else 1):
            return ModelResponse(parts=[TextPart("done")])
        at = "it" if loops == "child" else f"file {len(children)}"
        return ModelResponse(parts=[ToolCallPart("look", {"at": at})])

    child = watched.agent(child_model, name="child")

    def parent_model(messages, _):
        parents.append(list(messages))
        if len(parents) > (turns if loops == "parent" else 1):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("ask", {"question": "what is it?"})])

    parent = watched.agent(parent_model, name="parent")

    async def ask(ctx: RunContext[None], question: str) -> str:
        """Ask the sub-agent."""
        conversation = ctx.conversation_id if shared else None
        return str((await child.run(question, conversation_id=conversation)).output)

    parent.tool(ask)

    parent.run_sync("go")

    told, other = (parents, children) if loops == "parent" else (children, parents)
    assert [len(said(m)) for m in told][-1] == 1
    assert [said(m) for m in other if said(m)] == []


def test_a_sub_agent_takes_nothing_of_its_parent():
    """Asked in the batch that completes the parent's loop, it is not told of that loop."""
    watched = Watched()
    parents, children = [], []

    def child_model(messages, _):
        children.append(list(messages))
        return ModelResponse(parts=[TextPart("done")])

    child = watched.agent(child_model, name="child")

    def parent_model(messages, _):
        parents.append(list(messages))
        if len(parents) > 1:
            return ModelResponse(parts=[TextPart("done")])
        looks = [ToolCallPart("look", {}) for _ in range(THRESHOLD)]
        return ModelResponse(parts=[*looks, ToolCallPart("ask", {})])

    parent = watched.agent(parent_model, name="parent")

    async def ask(ctx: RunContext[None]) -> str:
        """Ask the sub-agent, in the same conversation."""
        answer = await child.run("what is it?", conversation_id=ctx.conversation_id)
        return str(answer.output)

    parent.tool(ask, sequential=True)

    parent.run_sync("go")

    assert [len(said(messages)) for messages in parents] == [0, 1]
    assert [said(messages) for messages in children] == [[]]


def test_without_a_watchdog_nothing_happens(monkeypatch):
    """An agent that carries the capability runs as if it did not."""
    monkeypatch.setattr("otel_watchdog.delivery.current", lambda: None)
    model = Script(turns=5)
    agent = Agent(FunctionModel(model), capabilities=[WatchdogCapability()])
    agent.tool_plain(look)

    result = agent.run_sync("go")

    assert result.output == "done"
    assert model.told_at() == []


def test_without_instrumentation_nothing_happens():
    """No spans, no session, no correction, no error."""
    watched, model = Watched(), Script(turns=5)
    agent = Agent(FunctionModel(model), capabilities=[WatchdogCapability(watched.watchdog)])
    agent.tool_plain(look)

    result = agent.run_sync("go")

    assert result.output == "done"
    assert watched.sent == []


def test_the_watchdog_of_the_process_is_the_default():
    """`WatchdogCapability()` finds the one made last."""
    watched, model = Watched(), Script(turns=5)
    settings = InstrumentationSettings(tracer_provider=watched.provider)
    agent = Agent(
        FunctionModel(model), capabilities=[Instrumentation(settings), WatchdogCapability()]
    )
    agent.tool_plain(look)

    agent.run_sync("go")

    assert model.told_at() == [THRESHOLD + 1]


def test_after_shutdown_the_agent_goes_on():
    """A watchdog that was shut down says nothing and breaks nothing."""
    watched, model = Watched(), Script(turns=5)
    watched.provider.shutdown()

    result = watched.agent(model).run_sync("go")

    assert result.output == "done"
    assert model.told_at() == []
