"""The middleware for the Microsoft Agent Framework on the real framework."""

import pytest

from tests.integration.adapters.scenario import Placement, Scenario
from tests.integration.adapters.watched import THRESHOLD, Ended, awaited, halted

pytest.importorskip("agent_framework")

from agent_framework import Agent
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from otel_watchdog import Mode
from otel_watchdog.adapters.agent_framework import watchdog_middleware


class AgentFramework:
    """An agent with a tool; the framework writes spans by itself."""

    framework = "agent-framework"
    package = "agent-framework-core"
    example = "agent_framework"
    ways = ("async", "stream")
    server_keeps = False

    def instrument(self, provider):  # noqa: ARG002 - it takes the global one
        enable_instrumentation(enable_sensitive_data=True)

    def client(self):
        return OpenAIChatCompletionClient(
            model="scripted", base_url=f"{self.server.url}/v1", api_key="none"
        )

    def agent(self, name="fixer", instructions="Mend it.", tools=None):
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        client = self.client()
        client.function_invocation_configuration["max_iterations"] = 100
        return Agent(
            client,
            name=name,
            instructions=instructions,
            tools=tools or [look],
            middleware=watchdog_middleware(withdraw_tools=self.withdraw),
            default_options={"store": self.server_keeps},
        )

    def run(self, way):
        agent = self.agent()

        async def streamed():
            stream = agent.run("go", stream=True)
            async for _ in stream:
                pass
            return await stream.get_final_response()

        async def ran():
            return await agent.run("go")

        try:
            response = awaited(streamed() if way == "stream" else ran())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=response.text)

    def run_with_sub_agent(self):
        inner = self.agent("inner", "SUB-AGENT")
        ask = inner.as_tool(name="ask", description="Ask the sub-agent.", arg_name="input")

        async def ran():
            await self.agent("outer", tools=[ask]).run("go")

        awaited(ran())


class TestAgentFramework(AgentFramework, Scenario):
    """On OpenAI's chat completions."""

    def test_a_sub_agent_is_ended_alone(self) -> None:
        """Its caller goes on: the tool has failed."""
        watched = self.watched(mode=Mode.ENFORCE)
        self.server.reset(asks_first=True)

        self.run_with_sub_agent()

        assert watched.sent[-1] == "terminate"
        assert len(self.server.of(sub_agent=True)) == 5 * THRESHOLD + 3
        assert len(self.server.of(sub_agent=False)) == 2


class TestAgentFrameworkResponses(AgentFramework, Placement):
    """On OpenAI's responses."""

    def client(self):
        return OpenAIChatClient(model="scripted", base_url=f"{self.server.url}/v1", api_key="none")

    def test_what_the_server_keeps_is_sent_once(self) -> None:
        """Where a request holds only what is new, the text stands in one."""
        self.server_keeps = True
        self.watched()
        self.server.reset(loops=5)

        self.run("async")

        assert all("previous_response_id" in r.body for r in self.server.requests[1:])
        assert [len(r.told) for r in self.server.requests] == [0, 0, 0, 1, 0, 0]
