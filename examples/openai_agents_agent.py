"""An agent of the OpenAI Agents SDK that the watchdog corrects."""

from agents import Agent, Runner, function_tool
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.openai_agents import WatchdogHooks

install()
OpenAIAgentsInstrumentor().instrument()
watch = WatchdogHooks()


@function_tool
def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = Agent(name="fixer", instructions="Mend it.", tools=[look], model="gpt-5")
options = {"hooks": watch, "run_config": watch.run_config(), "max_turns": 100}
try:
    print(Runner.run_sync(agent, "Why does the build fail?", **options).final_output)
except AgentHalted as halt:
    print("halted:", halt.reason)
