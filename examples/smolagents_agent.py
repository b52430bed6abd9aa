"""A smolagents agent that the watchdog corrects."""

import os

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.smolagents import WatchdogCallback

install()
SmolagentsInstrumentor().instrument()


@tool
def look(at: str) -> str:
    """Look at a file.

    Args:
        at: The file.
    """
    return f"nothing new in {at}"


model = OpenAIServerModel("gpt-5", api_base=os.environ.get("OPENAI_BASE_URL"))
agent = ToolCallingAgent([look], model, max_steps=100, step_callbacks=[WatchdogCallback()])
try:
    print(agent.run("Why does the build fail?"))
except AgentHalted as halt:
    print("halted:", halt.reason)
