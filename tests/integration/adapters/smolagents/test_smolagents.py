"""The smolagents callback on the real framework."""

from typing import ClassVar

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import Ended, halted

pytest.importorskip("smolagents")

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, Tool, ToolCallingAgent
from smolagents.monitoring import LogLevel

from otel_watchdog.adapters.smolagents import WatchdogCallback


class Look(Tool):
    """A tool that looks for the test."""

    name = "look"
    description = "Look at a file."
    inputs: ClassVar = {"at": {"type": "string", "description": "The file."}}
    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def forward(self, at):
        return self.looks(at)


class TestSmolagents(Scenario):
    """A tool-calling agent."""

    framework = "smolagents"
    package = "smolagents"
    ways = ("sync", "stream")
    has_results = False
    ask: ClassVar = ("ask", {"task": "look"})

    def instrument(self, provider):
        SmolagentsInstrumentor().instrument(tracer_provider=provider)

    def agent(self, name="fixer", prompt=None, tools=None, **options):
        return ToolCallingAgent(
            tools=tools if tools is not None else [Look(self.look)],
            model=OpenAIServerModel("scripted", api_base=f"{self.server.url}/v1", api_key="none"),
            name=name,
            description="Mends.",
            instructions=prompt,
            max_steps=100,
            verbosity_level=LogLevel.OFF,
            step_callbacks=[WatchdogCallback(withdraw_tools=self.withdraw)],
            **options,
        )

    def run(self, way):
        try:
            if way == "sync":
                text = self.agent().run("go")
            else:
                *_, last = self.agent().run("go", stream=True)
                text = last.output
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=str(text))

    def run_with_sub_agent(self):
        inner = self.agent("ask", "SUB-AGENT")
        self.agent("outer", tools=[], managed_agents=[inner]).run("go")
