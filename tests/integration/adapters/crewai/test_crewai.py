"""The CrewAI hooks on the real framework."""

from typing import ClassVar

import pytest

from tests.integration.adapters.scenario import Ended, Scenario, halted

pytest.importorskip("crewai")

import os

os.environ.update(
    CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false", CREWAI_TESTING="true"
)

import crewai.utilities.agent_utils as crewai_guard
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation.crewai import CrewAIInstrumentor

from otel_watchdog.adapters.crewai import watchdog_hooks


class TestCrewAI(Scenario):
    """A crew of one; its `akickoff` has no span to find the session by."""

    framework = "crewai"
    package = "crewai"
    ways = ("sync", "stream")
    refusal = "blocked by hook"
    prelude = "import crewai.utilities.agent_utils as u; u.MAX_REPEATED_TOOL_CALLS = 1000"
    lacks: ClassVar = {"sub-agents": "delegation was not tried"}

    @pytest.fixture(autouse=True)
    def _home(self, tmp_path, monkeypatch):
        monkeypatch.setattr(crewai_guard, "MAX_REPEATED_TOOL_CALLS", 1000)  # CrewAI's own
        monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path))
        monkeypatch.setenv("HOME", str(tmp_path))

    def instrument(self, provider):
        CrewAIInstrumentor().instrument(tracer_provider=provider)

    @pytest.fixture(autouse=True)
    def _hooks(self, _set_up, request):
        remove = watchdog_hooks(withdraw_tools="withdrawn" in request.node.name)
        yield
        remove()

    def run(self, way):
        @tool("look")
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        llm = LLM(
            model="openai/gpt-4o",
            base_url=f"{self.server.url}/v1",
            api_key="none",
            stream=way == "stream",
        )
        agent = Agent(
            role="fixer",
            goal="mend",
            backstory="b",
            tools=[look],
            llm=llm,
            max_iter=100,
            cache=False,
        )
        task = Task(description="go", expected_output="an answer", agent=agent)
        crew = Crew(agents=[agent], tasks=[task], cache=False)
        try:
            return Ended(halted=False, text=crew.kickoff().raw)
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
