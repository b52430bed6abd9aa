"""The Haystack hooks on the real framework."""

import pytest

from tests.integration.adapters.scenario import Placement, Scenario
from tests.integration.adapters.watched import THRESHOLD, Ended, awaited, halted

pytest.importorskip("haystack")

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Pipeline, tracing
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret
from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer

from otel_watchdog import Mode
from otel_watchdog.adapters.haystack import halt_of, watchdog_hooks


def a_tool(name, function, argument):
    """Return a tool of one text argument."""
    parameters = {
        "type": "object",
        "properties": {argument: {"type": "string"}},
        "required": [argument],
    }
    return Tool(name=name, description=f"To {name}.", parameters=parameters, function=function)


class Haystack:
    """An agent with a tool; Haystack writes spans by itself."""

    framework = "haystack"
    package = "haystack-ai"

    def instrument(self, provider):
        tracing.tracer.is_content_tracing_enabled = True
        tracing.enable_tracing(OpenTelemetryTracer(provider.get_tracer("haystack")))

    def generator(self):
        return OpenAIChatGenerator(
            model="scripted",
            api_base_url=f"{self.server.url}/v1",
            api_key=Secret.from_token("none"),
        )

    def agent(self, prompt="Mend it.", tools=None, **options):
        return Agent(
            chat_generator=self.generator(),
            tools=tools or [a_tool("look", self.look, "at")],
            system_prompt=prompt,
            max_agent_steps=100,
            hooks=watchdog_hooks(withdraw_tools=self.withdraw),
            **options,
        )

    def run(self, way):
        messages = [ChatMessage.from_user("go")]
        options = {"streaming_callback": _heard} if way == "stream" else {}
        agent = self.agent(**options)
        try:
            if way == "async":
                result = awaited(agent.run_async(messages=messages))
            else:
                result = agent.run(messages=messages)
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=result["last_message"].text)

    def run_with_sub_agent(self):
        inner = self.agent("SUB-AGENT")

        def ask(input: str) -> str:  # noqa: A002 - the model's word
            return inner.run(messages=[ChatMessage.from_user(input)])["last_message"].text

        outer = self.agent(tools=[a_tool("ask", ask, "input")])
        outer.run(messages=[ChatMessage.from_user("go")])


def _heard(chunk) -> None:
    assert chunk is not None


class TestHaystack(Haystack, Scenario):
    """On OpenAI's chat completions."""

    def test_a_pipeline_raises_an_error_with_the_halt_behind_it(self) -> None:
        """Its own error, and no answer."""
        watched = self.watched(mode=Mode.ENFORCE)
        pipeline = Pipeline()
        pipeline.add_component("agent", self.agent())

        with pytest.raises(Exception, match="ended by the watchdog") as caught:
            pipeline.run({"agent": {"messages": [ChatMessage.from_user("go")]}})

        halt = halt_of(caught.value)
        assert halt is not None
        assert halt.reason == watched.corrections[-1].finding.reason

    def test_of_a_batch_only_the_withdrawn_tool_is_refused(self) -> None:
        """Its call is answered; the other one is left to run."""
        self.withdraw = True
        watched = self.watched(mode=Mode.ENFORCE, max_corrections=4)
        noted: list[str] = []

        def note(at: str) -> str:
            noted.append(at)
            return "noted"

        self.server.reset(loops=4 * THRESHOLD + 1, beside="note")
        tools = [a_tool("look", self.look, "at"), a_tool("note", note, "at")]

        self.agent(tools=tools).run(messages=[ChatMessage.from_user("go")])

        assert watched.sent[-1] == "hard-stop"
        assert len(self.looked) == 4 * THRESHOLD
        assert noted == ["main.py"]
        assert self.server.rejected == []


class TestHaystackResponses(Haystack, Placement):
    """On OpenAI's responses."""

    def generator(self):
        return OpenAIResponsesChatGenerator(
            model="scripted",
            api_base_url=f"{self.server.url}/v1",
            api_key=Secret.from_token("none"),
        )
