"""Several agents at once, sub-agents, and agents that nobody watches: each gets its own, or nothing."""

import asyncio

import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.messages import (
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import (
    FunctionModel,
)
from pydantic_ai.models.instrumented import InstrumentationSettings

from otel_watchdog.adapters.pydantic_ai import WatchdogCapability
from tests.otel_watchdog.adapters.pydantic_ai_cases import (
    THRESHOLD,
    Script,
    Watched,
    look,
    said,
)

pytestmark = pytest.mark.usefixtures("loop")


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
