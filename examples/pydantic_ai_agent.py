"""A pydantic-ai agent that the watchdog corrects."""

from pydantic_ai import Agent, UsageLimits

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.pydantic_ai import WatchdogCapability

install()
Agent.instrument_all()
agent = Agent("openai-chat:gpt-5", name="fixer", capabilities=[WatchdogCapability()])


@agent.tool_plain
def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


try:
    question = "Why does the build fail?"
    print(agent.run_sync(question, usage_limits=UsageLimits(request_limit=100)).output)
except AgentHalted as halt:
    print("halted:", halt.reason)
