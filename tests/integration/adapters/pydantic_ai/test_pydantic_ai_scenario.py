"""The pydantic-ai capability in the scenario of all adapters."""

from typing import ClassVar

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import Ended, awaited, halted, provider

pytest.importorskip("pydantic_ai.models.openai", exc_type=ImportError)

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from otel_watchdog.adapters.pydantic_ai import WatchdogCapability

LIMITS = UsageLimits(request_limit=100)


class TestPydanticAI(Scenario):
    """On OpenAI's chat completions; it writes spans by itself."""

    framework = "pydantic-ai"
    package = "pydantic-ai-slim"
    example = "pydantic_ai"
    ways = ("async", "stream")
    lacks: ClassVar = {}

    def agent(self, name="fixer", instructions="Mend it."):
        server = OpenAIProvider(base_url=f"{self.server.url}/v1", api_key="none")
        agent = Agent(
            OpenAIChatModel("scripted", provider=server),
            name=name,
            instructions=instructions,
            capabilities=[
                Instrumentation(InstrumentationSettings(tracer_provider=provider())),
                WatchdogCapability(withdraw_tools=self.withdraw),
            ],
        )
        if name != "outer":

            @agent.tool_plain
            def look(at: str) -> str:
                """Look at a file."""
                return self.look(at)

        return agent

    def run(self, way):
        agent = self.agent()

        async def streamed():
            async with agent.iter("go", usage_limits=LIMITS) as run:
                async for _ in run:
                    pass
            return run.result

        try:
            ran = streamed() if way == "stream" else agent.run("go", usage_limits=LIMITS)
            return Ended(halted=False, text=awaited(ran).output)
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)

    def run_with_sub_agent(self):
        inner, outer = self.agent("inner", "SUB-AGENT"), self.agent("outer")

        @outer.tool_plain
        async def ask(input: str) -> str:  # noqa: A002 - the model's word
            """Ask the sub-agent."""
            return (await inner.run(input)).output

        awaited(outer.run("go"))
