"""An agent of the Google ADK that the watchdog corrects."""

import asyncio
import os

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner

from otel_watchdog import install
from otel_watchdog.adapters.google_adk import WatchdogPlugin, halt_of

# Without these two the ADK does not record what tools are called with.
os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_AND_EVENT"
install()


def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = Agent(model="gemini-2.5-flash", name="fixer", instruction="Mend it.", tools=[look])
runner = InMemoryRunner(agent=agent, plugins=[WatchdogPlugin()])
try:
    events = asyncio.run(runner.run_debug("Why does the build fail?", quiet=True))
    print(events[-1].content.parts[0].text)
except RuntimeError as error:
    halt = halt_of(error)
    if halt is None:
        raise
    print("halted:", halt.reason)
