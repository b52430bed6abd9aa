"""An agent of the Microsoft Agent Framework that the watchdog corrects."""

import asyncio

from agent_framework import Agent
from agent_framework.observability import enable_instrumentation
from agent_framework.openai import OpenAIChatCompletionClient

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.agent_framework import watchdog_middleware

install()
enable_instrumentation(enable_sensitive_data=True)


def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


async def main() -> None:
    """Ask the agent."""
    client = OpenAIChatCompletionClient(model="gpt-5")
    agent = Agent(client, name="fixer", tools=[look], middleware=watchdog_middleware())
    try:
        print(await agent.run("Why does the build fail?"))
    except AgentHalted as halt:
        print("halted:", halt.reason)


asyncio.run(main())
