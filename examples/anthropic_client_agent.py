"""A hand-written loop around the Anthropic client that the watchdog corrects."""

from anthropic import Anthropic
from openinference.instrumentation.anthropic import AnthropicInstrumentor

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.plain import WatchdogLoop

install()
AnthropicInstrumentor().instrument()


def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


schema = {"type": "object", "properties": {"at": {"type": "string"}}}
tools = [{"name": "look", "description": "Look at a file.", "input_schema": schema}]
messages = [{"role": "user", "content": "Why does the build fail?"}]
client = Anthropic()
try:
    with WatchdogLoop("fixer") as run:
        while messages[-1]["role"] == "user":
            with run.turn(messages):
                answer = client.messages.create(
                    model="claude-opus-4-8", max_tokens=1000, messages=messages, tools=tools
                )
            messages.append({"role": "assistant", "content": answer.content})
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": look(**block.input)}
                for block in answer.content
                if block.type == "tool_use"
            ]
            if results:
                messages.append({"role": "user", "content": results})
except AgentHalted as halt:
    print("halted:", halt.reason)
