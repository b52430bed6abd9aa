"""The watched LlamaIndex agent on the real framework."""

from typing import ClassVar

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import Ended, awaited, halted

pytest.importorskip("llama_index.core")
pytest.importorskip("llama_index.llms.openai")

from llama_index.llms.openai import OpenAI
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

from otel_watchdog.adapters.llama_index import WatchedFunctionAgent


class TestLlamaIndex(Scenario):
    """A function agent."""

    framework = "llama-index"
    package = "llama-index-core"
    example = "llama_index"
    ways = ("async", "stream")
    lacks: ClassVar = {"withdraw": "a hidden tool still runs when it is called"}

    def instrument(self, provider):
        LlamaIndexInstrumentor().instrument(tracer_provider=provider)

    def agent(self, name="fixer", prompt=None, tools=None, *, streaming=False):
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        llm = OpenAI(model="gpt-4o", api_base=f"{self.server.url}/v1", api_key="none")
        return WatchedFunctionAgent(
            name=name,
            description="Mends.",
            system_prompt=prompt,
            tools=tools or [look],
            llm=llm,
            streaming=streaming,
        )

    def run(self, way):
        async def ran():
            agent = self.agent(streaming=way == "stream")
            return str(await agent.run("go", max_iterations=100))

        try:
            return Ended(halted=False, text=awaited(ran()))
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)

    def run_with_sub_agent(self):
        inner = self.agent("inner", "SUB-AGENT")

        async def ask(input: str) -> str:  # noqa: A002 - the model's word
            """Ask the sub-agent."""
            return str(await inner.run(input, max_iterations=100))

        async def ran():
            await self.agent("outer", tools=[ask]).run("go", max_iterations=100)

        awaited(ran())
