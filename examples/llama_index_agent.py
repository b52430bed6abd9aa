"""A LlamaIndex agent that the watchdog corrects."""

import asyncio

from llama_index.llms.openai import OpenAI
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.llama_index import WatchedFunctionAgent

install()
LlamaIndexInstrumentor().instrument()


def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


async def main() -> None:
    """Ask the agent."""
    agent = WatchedFunctionAgent(name="fixer", tools=[look], llm=OpenAI(model="gpt-4o"))
    try:
        print(await agent.run("Why does the build fail?", max_iterations=100))
    except AgentHalted as halt:
        print("halted:", halt.reason)


asyncio.run(main())
