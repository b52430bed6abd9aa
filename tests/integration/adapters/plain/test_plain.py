"""The helper for hand-written loops, around the real clients of OpenAI and Anthropic."""

import json
from typing import ClassVar

import pytest

from tests.integration.adapters.scenario import Placement, Scenario
from tests.integration.adapters.watched import Ended, awaited, halted

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

from openinference.instrumentation.anthropic import AnthropicInstrumentor  # noqa: E402
from openinference.instrumentation.openai import OpenAIInstrumentor  # noqa: E402

from otel_watchdog.adapters.plain import WatchdogLoop  # noqa: E402

SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
LOOK = {"name": "look", "description": "Look at a file.", "parameters": SCHEMA}


class Plain:
    """What the loops have in common."""

    ways = ("sync", "async")
    lacks: ClassVar = {"streaming": "not tried: the loop reads the stream itself"}

    def instrument(self, provider):
        OpenAIInstrumentor().instrument(tracer_provider=provider)
        AnthropicInstrumentor().instrument(tracer_provider=provider)

    def call(self, run, name, arguments):
        return run.refusal(name) or self.look(**arguments)

    def run(self, way):
        try:
            with WatchdogLoop("fixer", withdraw_tools=self.withdraw) as run:
                text = awaited(self.aloop(run)) if way == "async" else self.loop(run)
        except Exception as error:  # noqa: BLE001 - `halted` raises what is not ours
            return halted(error)
        return Ended(halted=False, text=text)


class TestOpenAI(Plain, Scenario):
    """A loop around chat completions."""

    framework = "openai-client"
    package = "openai"
    example = "openai_client"

    tools: ClassVar = [{"type": "function", "function": LOOK}]

    def answered(self, run, messages, message):
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or []:
            result = self.call(run, call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return message.content

    def loop(self, run):
        client = openai.OpenAI(base_url=f"{self.server.url}/v1")
        messages = [{"role": "user", "content": "go"}]
        while True:
            with run.turn(messages):
                answer = client.chat.completions.create(
                    model="scripted", messages=messages, tools=self.tools
                )
            text = self.answered(run, messages, answer.choices[0].message)
            if text is not None:
                return text

    async def aloop(self, run):
        client = openai.AsyncOpenAI(base_url=f"{self.server.url}/v1")
        messages = [{"role": "user", "content": "go"}]
        while True:
            with run.turn(messages):
                answer = await client.chat.completions.create(
                    model="scripted", messages=messages, tools=self.tools
                )
            text = self.answered(run, messages, answer.choices[0].message)
            if text is not None:
                return text

    def run_with_sub_agent(self):
        def inner():
            client = openai.OpenAI(base_url=f"{self.server.url}/v1")
            messages = [{"role": "system", "content": "SUB-AGENT"}]
            with WatchdogLoop("inner") as run:
                while True:
                    with run.turn(messages):
                        answer = client.chat.completions.create(
                            model="scripted", messages=messages, tools=self.tools
                        )
                    text = self.answered(run, messages, answer.choices[0].message)
                    if text is not None:
                        return text

        ask = {"type": "function", "function": LOOK | {"name": "ask"}}
        client = openai.OpenAI(base_url=f"{self.server.url}/v1")
        messages = [{"role": "user", "content": "go"}]
        with WatchdogLoop("outer") as run:
            for _ in range(2):
                with run.turn(messages):
                    answer = client.chat.completions.create(
                        model="scripted", messages=messages, tools=[ask]
                    )
                message = answer.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                messages += [
                    {"role": "tool", "tool_call_id": call.id, "content": inner()}
                    for call in message.tool_calls or []
                ]


class TestOpenAIResponses(Plain, Placement):
    """A loop around responses, whose server keeps nothing."""

    framework = "openai-client"
    package = "openai"

    def loop(self, run):
        client = openai.OpenAI(base_url=f"{self.server.url}/v1")
        items = [{"role": "user", "content": "go"}]
        while True:
            with run.turn(items):
                answer = client.responses.create(
                    model="scripted", input=items, tools=[{"type": "function", **LOOK}]
                )
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return answer.output_text
            items += [call.model_dump(exclude_none=True) for call in calls]
            for call in calls:
                result = self.call(run, call.name, json.loads(call.arguments))
                items.append(
                    {"type": "function_call_output", "call_id": call.call_id, "output": result}
                )


class TestAnthropic(Plain, Scenario):
    """A loop around messages."""

    framework = "anthropic-client"
    package = "anthropic"
    example = "anthropic_client"
    ways = ("sync",)
    lacks: ClassVar = dict.fromkeys(
        ("async", "streaming", "sub-agents"),
        "not tried: the helper is the one around the OpenAI client",
    )

    def loop(self, run):
        client = anthropic.Anthropic(base_url=self.server.url)
        tools = [{"name": "look", "description": "Look.", "input_schema": SCHEMA}]
        messages = [{"role": "user", "content": "go"}]
        while True:
            with run.turn(messages):
                answer = client.messages.create(
                    model="scripted", max_tokens=100, messages=messages, tools=tools
                )
            content = [block.model_dump(exclude_none=True) for block in answer.content]
            messages.append({"role": "assistant", "content": content})
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                return answer.content[0].text
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": self.call(run, call.name, call.input),
                }
                for call in calls
            ]
            messages.append({"role": "user", "content": results})
