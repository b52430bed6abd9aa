"""An agent of the OpenAI Agents SDK, as a process: `python … <url of the service> <of a model>`.

Prints the id of its trace.
"""

import asyncio
import sys

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

from otel_watchdog.adapters.openai_agents import WatchdogHooks
from tests.integration.backends.fleet_agent import MAX_TURNS, look, watched


def main(service_url, model_url):
    """Run it."""
    with watched(service_url, "openai_agents") as (provider, watchdog):
        OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
        watch = WatchdogHooks(watchdog)
        client = AsyncOpenAI(base_url=f"{model_url}/v1", api_key="none")
        agent = Agent(
            name="fixer",
            instructions="Mend it.",
            tools=[function_tool(look)],
            model=OpenAIChatCompletionsModel("scripted", client),
        )
        options = {"hooks": watch, "run_config": watch.run_config(), "max_turns": MAX_TURNS}
        asyncio.run(Runner.run(agent, "go", **options))


if __name__ == "__main__":
    main(*sys.argv[1:])
