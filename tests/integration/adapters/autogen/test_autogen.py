"""The watched context on the real AutoGen."""

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import THRESHOLD, Ended, awaited, halted

pytest.importorskip("autogen_agentchat")

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import TextMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

from otel_watchdog import Mode
from otel_watchdog.adapters.autogen import WatchedContext

MODEL = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "family": "unknown",
}


class TestAutoGen(Scenario):
    """An assistant with a tool, which makes the loop itself or is asked by a team."""

    framework = "autogen"
    package = "autogen-agentchat"
    ways = ("async", "stream")
    iterations = 100

    def instrument(self, provider):
        AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)

    def agent(self, name="fixer", prompt="Mend it.", tools=None, *, stream=False):
        async def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        client = OpenAIChatCompletionClient(
            model="scripted", base_url=f"{self.server.url}/v1", api_key="none", model_info=MODEL
        )
        context = WatchedContext(agent=name, withdraw_tools=self.withdraw)
        return AssistantAgent(
            name,
            client,
            tools=tools or context.guarded([look]),
            system_message=prompt,
            model_context=context,
            max_tool_iterations=self.iterations,
            model_client_stream=stream,
        )

    def run(self, way):
        async def ran():
            agent = self.agent(stream=way == "stream")
            if way == "async":
                return await agent.run(task="go")
            async for event in agent.run_stream(task="go"):
                last = event
            return last

        try:
            result = awaited(ran())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=str(result.messages[-1].content))

    def run_with_sub_agent(self):
        inner = self.agent("inner", "SUB-AGENT")

        async def ask(input: str) -> str:  # noqa: A002 - the model's word
            """Ask the sub-agent."""
            result = await inner.run(task=input)
            return str(result.messages[-1].content)

        async def ran():
            await self.agent("outer", tools=[ask]).run(task="go")

        awaited(ran())

    def run_team(self, agent):
        async def ran():
            done = TextMessageTermination("fixer")
            await RoundRobinGroupChat([agent], termination_condition=done).run(task="go")

        awaited(ran())

    def test_a_team_ends_with_its_agent(self) -> None:
        """It raises an error of its own; the context says why."""
        watched = self.watched(mode=Mode.ENFORCE)
        agent = self.agent()

        with pytest.raises(RuntimeError, match="ended by the watchdog"):
            self.run_team(agent)

        assert agent.model_context.halt.reason == watched.corrections[-1].finding.reason
        assert len(self.server.requests) == 5 * THRESHOLD + 3

    def test_an_agent_that_a_team_asks_for_each_call_is_nudged(self) -> None:
        """In the very next request, though that is another run."""
        self.watched()
        self.server.reset(loops=5)
        self.iterations = 1

        self.run_team(self.agent())

        assert [len(r.told) for r in self.server.requests] == [0] * THRESHOLD + [1, 1, 1]
        assert self.told_at() == [THRESHOLD + 1]
        assert self.server.rejected == []
