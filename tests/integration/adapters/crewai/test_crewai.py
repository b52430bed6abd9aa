"""The CrewAI hooks on the real framework."""

from typing import ClassVar

import pytest

from tests.integration.adapters.scenario import Scenario
from tests.integration.adapters.watched import Ended, halted

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
    ask: ClassVar = (
        "delegate_work_to_coworker",
        {"task": "look", "context": "none", "coworker": "inner"},
    )
    lacks: ClassVar = {
        "async": "no span is written around an agent in `akickoff`",
        "sub-agents": "no span is written around an agent that work is delegated to",
    }

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

    def agent(self, role="fixer", backstory="b", tools=None, *, stream=False, **options):
        @tool("look")
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        llm = LLM(
            model="openai/gpt-4o",
            base_url=f"{self.server.url}/v1",
            api_key="none",
            stream=stream,
        )
        return Agent(
            role=role,
            goal="mend",
            backstory=backstory,
            tools=tools if tools is not None else [look],
            llm=llm,
            max_iter=100,
            cache=False,
            **options,
        )

    def run(self, way):
        agent = self.agent(stream=way == "stream")
        task = Task(description="go", expected_output="an answer", agent=agent)
        crew = Crew(agents=[agent], tasks=[task], cache=False)
        try:
            return Ended(halted=False, text=crew.kickoff().raw)
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)

    def test_an_agent_that_work_is_delegated_to_is_not_seen(self) -> None:
        """And nobody is told in its place."""
        watched = self.watched()
        self.server.reset(asks_first=True, ask=self.ask, loops=5)
        inner = self.agent("inner", "SUB-AGENT")
        outer = self.agent("outer", tools=[], allow_delegation=True)
        task = Task(description="go", expected_output="an answer", agent=outer)

        Crew(agents=[outer, inner], tasks=[task], cache=False).kickoff()

        assert len(self.server.of(sub_agent=True)) == 6
        assert watched.sent == []
        assert [request.told for request in self.server.requests] == [[]] * 8
