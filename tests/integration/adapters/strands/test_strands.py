"""The Strands hooks on the real framework."""

import pytest

from tests.integration.adapters.scenario import Placement, Scenario
from tests.integration.adapters.watched import Ended, awaited, halted

pytest.importorskip("strands")

from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel

from otel_watchdog.adapters.strands import WatchdogHooks, halt_of


class Strands:
    """An agent with a tool; Strands writes spans by itself."""

    framework = "strands"
    package = "strands-agents"

    def model(self):
        return OpenAIModel(client_args={"base_url": f"{self.server.url}/v1"}, model_id="scripted")

    def agent(self, name="fixer", prompt="Mend it.", tools=None):
        @tool
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        return Agent(
            model=self.model(),
            tools=tools or [look],
            system_prompt=prompt,
            name=name,
            callback_handler=None,
            hooks=[WatchdogHooks(withdraw_tools=self.withdraw)],
        )

    def run(self, way):
        agent = self.agent()

        async def streamed():
            async for event in agent.stream_async("go"):
                last = event.get("result")
            return last

        try:
            if way == "sync":
                result = agent("go")
            elif way == "async":
                result = awaited(agent.invoke_async("go"))
            else:
                result = awaited(streamed())
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(halt_of(error) or error)
        return Ended(halted=False, text=str(result))

    def run_with_sub_agent(self):
        inner = self.agent("inner", "SUB-AGENT")

        @tool
        def ask(input: str) -> str:  # noqa: A002 - the model's word
            """Ask the sub-agent."""
            return str(inner(input))

        self.agent("outer", tools=[ask])("go")


class TestStrands(Strands, Scenario):
    """On OpenAI's chat completions."""


class TestStrandsAnthropic(Strands, Placement):
    """On Anthropic's messages."""

    def model(self):
        return AnthropicModel(
            client_args={"base_url": self.server.url}, model_id="scripted", max_tokens=100
        )
