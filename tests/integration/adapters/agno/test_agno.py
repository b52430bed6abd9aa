"""The watched Agno agent on the real framework."""

import pytest

from tests.integration.adapters.scenario import Placement, Scenario
from tests.integration.adapters.watched import THRESHOLD, Ended, awaited

pytest.importorskip("agno")

import os

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.run.agent import RunOutput
from agno.run.base import RunStatus
from agno.team import Team
from openinference.instrumentation.agno import AgnoInstrumentor

from otel_watchdog.adapters.agno import halt_of, watch
from otel_watchdog.errors import ConfigError


class Agno:
    """An agent with a tool."""

    framework = "agno"
    package = "agno"

    def instrument(self, provider):
        AgnoInstrumentor().instrument(tracer_provider=provider)

    def model(self):
        return OpenAIChat(id="scripted", base_url=f"{self.server.url}/v1", api_key="none")

    def agent(self, name="fixer", prompt="Mend it.", tools=None):
        def look(at: str) -> str:
            """Look at a file."""
            return self.look(at)

        agent = Agent(
            model=self.model(),
            tools=tools or [look],
            name=name,
            instructions=prompt,
        )
        return watch(agent, withdraw_tools=self.withdraw)

    def run(self, way):
        agent = self.agent()

        async def streamed():
            async for event in agent.arun("go", stream=True, yield_run_output=True):
                last = event
            return last

        if way == "sync":
            output = agent.run("go")
        elif way == "async":
            output = awaited(agent.arun("go"))
        else:
            output = awaited(streamed())
        assert isinstance(output, RunOutput)
        halt = halt_of(output)
        assert (halt is not None) == (output.status is RunStatus.cancelled)
        reason = halt.reason if halt else ""
        return Ended(halted=halt is not None, text=str(output.content), reason=reason)

    def run_with_sub_agent(self):
        inner = self.agent("inner", "SUB-AGENT")

        def ask(input: str) -> str:  # noqa: A002 - the model's word
            """Ask the sub-agent."""
            return str(inner.run(input).content)

        self.agent("outer", tools=[ask]).run("go")


class TestAgno(Agno, Scenario):
    """On OpenAI's chat completions."""

    def test_a_member_of_a_team_gets_its_own(self) -> None:
        """And the leader, who does not loop, nothing."""
        self.watched()
        task = {"member_id": "inner", "task": "look"}
        self.server.reset(asks_first=True, ask=("delegate_task_to_member", task), loops=5)
        member = self.agent("inner", "SUB-AGENT")
        team = watch(Team(name="outer", members=[member], model=self.model()))

        team.run("go")

        inner = self.server.of(sub_agent=True)
        assert [len(request.told) for request in inner] == [0] * THRESHOLD + [1, 1, 1]
        assert [request.told for request in self.server.of(sub_agent=False)] == [[], []]
        assert self.server.rejected == []

    def test_without_a_model_it_cannot_be_watched(self) -> None:
        """Agno would choose one later."""
        with pytest.raises(ConfigError, match="model must be set"):
            watch(Agent(name="fixer"))


class TestAgnoResponses(Agno, Placement):
    """On OpenAI's responses."""

    def model(self):
        return OpenAIResponses(id="gpt-4o", base_url=f"{self.server.url}/v1", api_key="none")


class TestAgnoAnthropic(Agno, Placement):
    """On Anthropic's messages."""

    def model(self):
        return Claude(id="scripted", api_key="none", client_params={"base_url": self.server.url})
