"""A Haystack agent that the watchdog corrects."""

from haystack import tracing
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer
from opentelemetry import trace

from otel_watchdog import AgentHalted, install
from otel_watchdog.adapters.haystack import watchdog_hooks

install()
tracing.tracer.is_content_tracing_enabled = True
tracing.enable_tracing(OpenTelemetryTracer(trace.get_tracer("haystack")))


@tool
def look(at: str) -> str:
    """Look at a file."""
    return f"nothing new in {at}"


agent = Agent(
    chat_generator=OpenAIChatGenerator(model="gpt-5"),
    tools=[look],
    hooks=watchdog_hooks(),
)
try:
    result = agent.run(messages=[ChatMessage.from_user("Why does the build fail?")])
    print(result["last_message"].text)
except AgentHalted as halt:
    print("halted:", halt.reason)
