"""An agent of pydantic-ai on a scripted model, as a process: `python … <url of the service>`.

Prints the texts of ours that each request to its model held, and the id of its trace.
"""

import asyncio
import json
import sys

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

from otel_watchdog.adapters.pydantic_ai import WatchdogCapability
from tests.integration.backends.fleet_agent import MARKER, MAX_TURNS, OTHERS, look, watched


class Script:
    """The model; keeps our texts, by request."""

    def __init__(self):
        self.told = []

    def __call__(self, messages, _):
        """Answer a request."""
        parts = [part for message in messages for part in message.parts]
        texts = [str(part.content) for part in parts if part.part_kind == "user-prompt"]
        self.told.append([text for text in texts if MARKER in text])
        others = sum(map(bool, self.told))
        if others > OTHERS:
            return ModelResponse(parts=[TextPart("done")])
        at = f"other_{others}.py" if others else "main.py"
        return ModelResponse(parts=[ToolCallPart("look", {"at": at}, f"call_{len(self.told)}")])


def main(service_url):
    """Run it."""
    model = Script()
    with watched(service_url, "pydantic_ai") as (provider, watchdog):
        agent = Agent(
            FunctionModel(model),
            name="fixer",
            tools=[look],
            capabilities=[
                Instrumentation(InstrumentationSettings(tracer_provider=provider)),
                WatchdogCapability(watchdog),
            ],
        )
        asyncio.run(agent.run("go", usage_limits=UsageLimits(request_limit=MAX_TURNS)))
        sys.stdout.write(json.dumps(model.told))


if __name__ == "__main__":
    main(*sys.argv[1:])
