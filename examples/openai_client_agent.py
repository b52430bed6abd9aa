"""A hand-written loop around the OpenAI client that the watchdog corrects."""

import json

from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.plain import WatchdogLoop

install()
OpenAIInstrumentor().instrument()


def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


schema = {"type": "object", "properties": {"at": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "look", "parameters": schema}}]
messages = [{"role": "user", "content": "Why does the build fail?"}]
client = OpenAI()
try:
    with WatchdogLoop("fixer") as run:
        calls = True
        while calls:
            with run.turn(messages):
                answer = client.chat.completions.create(
                    model="gpt-5", messages=messages, tools=tools
                )
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            calls = message.tool_calls or []
            for call in calls:
                text = look(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
except AgentHalted as halt:
    print("halted:", halt.reason)
