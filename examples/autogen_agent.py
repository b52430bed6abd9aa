"""An AutoGen agent that the watchdog corrects."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.autogen import WatchedContext

install()
AutogenAgentChatInstrumentor().instrument()


async def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


async def main() -> None:
    """Ask the agent."""
    agent = AssistantAgent(
        "fixer",
        OpenAIChatCompletionClient(model="gpt-4o"),
        tools=[look],
        model_context=WatchedContext(),
        max_tool_iterations=100,
    )
    try:
        result = await agent.run(task="Why does the build fail?")
        print(result.messages[-1].content)
    except AgentHalted as halt:
        print("halted:", halt.reason)


asyncio.run(main())
