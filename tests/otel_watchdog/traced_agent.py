"""An agent that writes its spans by hand, under a provider of its own with a watchdog."""

from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_watchdog import (
    Profile,
    WatchdogConfig,
    WatchdogSpanProcessor,
)
from otel_watchdog.testing import reraise


class Traced:
    """A provider of its own with a watchdog, and an agent that writes spans by hand."""

    def __init__(self, *, sampler=None, **options):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        usual: dict[str, Any] = {
            "on_error": reraise,
            "config": WatchdogConfig(profile=Profile.CLASSIC),
        }
        self.watchdog = WatchdogSpanProcessor(**(usual | options))
        self.provider.add_span_processor(self.watchdog)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = self.provider.get_tracer("pydantic-ai")

    def run(self, conversation="c"):
        """Return the span of a run, as a context manager."""
        return self.tracer.start_as_current_span(
            "invoke_agent fixer",
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "fixer",
                "gen_ai.conversation.id": conversation,
            },
        )

    def turn(self, name="read", arguments='{"path":"a"}', result="text"):
        """Write one turn: a model span and a tool span."""
        with self.tracer.start_as_current_span(
            "chat m", attributes={"gen_ai.operation.name": "chat"}
        ):
            pass
        with self.tracer.start_as_current_span(
            f"execute_tool {name}",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.call.arguments": arguments,
            },
        ) as span:
            span.set_attribute("gen_ai.tool.call.result", result)

    def lease(self, conversation="c"):
        """Take what waits for the agent of a conversation."""
        session = self.watchdog.find_session(conversation, "fixer")
        return self.watchdog.mailbox.lease(session or "")

    def corrections(self):
        """Return the correction spans written so far."""
        return [
            span
            for span in self.exporter.get_finished_spans()
            if span.instrumentation_scope and span.instrumentation_scope.name == "otel_watchdog"
        ]


def loop(traced, turns=5, conversation="c"):
    """Let the agent make the same call again and again."""
    with traced.run(conversation):
        for _ in range(turns):
            traced.turn()
