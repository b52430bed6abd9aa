"""An agent of the Claude Agent SDK that the watchdog corrects."""

import asyncio

import claude_agent_sdk
from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, tool
from openinference.instrumentation.claude_agent_sdk import ClaudeAgentSDKInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.claude_agent_sdk import WatchdogHooks

install()
ClaudeAgentSDKInstrumentor().instrument()
watch = WatchdogHooks()


@tool("look", "Look at a file.", {"at": str})
async def look(arguments: dict[str, str]) -> dict[str, object]:
    """Look at a file."""
    return {"content": [{"type": "text", "text": f"nothing new in {arguments['at']}"}]}


async def main() -> None:
    """Ask the agent."""
    options = ClaudeAgentOptions(
        mcp_servers={"files": create_sdk_mcp_server("files", tools=[look])},
        allowed_tools=["mcp__files__look"],
        hooks=watch.hooks(),
    )
    asked = claude_agent_sdk.query(prompt="Why does the build fail?", options=options)
    try:
        async for message in watch.checked(asked):
            print(message)
    except AgentHalted as halt:
        print("halted:", halt.reason)


asyncio.run(main())
