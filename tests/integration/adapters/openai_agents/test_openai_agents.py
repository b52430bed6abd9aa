"""The OpenAI Agents SDK's hooks on the real framework."""

import pytest

from tests.integration.adapters.scenario import Placement, Scenario
from tests.integration.adapters.watched import Ended, awaited, halted

agents = pytest.importorskip("agents")

from agents import (  # noqa: E402
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
)
from openai import AsyncOpenAI  # noqa: E402
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor  # noqa: E402

from otel_watchdog.adapters.openai_agents import WatchdogHooks  # noqa: E402


class OpenAIAgents:
    """An agent with a tool."""

    framework = "openai-agents"
    package = "openai-agents"
    example = "openai_agents"

    def instrument(self, provider):
        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)

    def model(self):
        client = AsyncOpenAI(base_url=f"{self.server.url}/v1")
        return OpenAIChatCompletionsModel("scripted", client)

    def run(self, way):
        watch = WatchdogHooks(withdraw_tools=self.withdraw)
        options = {"hooks": watch, "run_config": watch.run_config(), "max_turns": 100}

        @function_tool(tool_input_guardrails=[watch.guardrail()])
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        agent = Agent(name="fixer", instructions="Mend it.", tools=[look], model=self.model())

        async def streamed():
            result = Runner.run_streamed(agent, "go", **options)
            async for _ in result.stream_events():
                pass
            return result

        async def ran():
            return await Runner.run(agent, "go", **options)

        try:
            result = awaited(streamed() if way == "stream" else ran())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            ended = halted(error)
            self.kept = error.run_data.new_items
            return ended
        return Ended(halted=False, text=result.final_output)

    def run_with_sub_agent(self):
        watch = WatchdogHooks()

        @function_tool
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        inner = Agent(name="inner", instructions="SUB-AGENT", tools=[look], model=self.model())
        ask = inner.as_tool("ask", "Ask the sub-agent.")
        outer = Agent(name="outer", instructions="Mend it.", tools=[ask], model=self.model())
        awaited(Runner.run(outer, "go", hooks=watch, run_config=watch.run_config()))


class TestOpenAIAgents(OpenAIAgents, Scenario):
    """On chat completions."""

    ways = ("async", "stream")


class TestOpenAIAgentsResponses(OpenAIAgents, Placement):
    """On responses."""

    ways = ("async", "stream")

    def model(self):
        return OpenAIResponsesModel("scripted", AsyncOpenAI(base_url=f"{self.server.url}/v1"))
