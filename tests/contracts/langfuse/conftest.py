"""Reads spans as Langfuse's published rules say, and writes those of a looping agent."""

import itertools
import json
from typing import Any

import pytest
from langfuse import Langfuse
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from otel_watchdog import Profile, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.testing import reraise

KINDS = {"CHAIN", "RETRIEVER", "EMBEDDING", "AGENT", "TOOL", "GUARDRAIL", "EVALUATOR"}
TYPES = {kind.lower() for kind in KINDS} | {"span", "generation", "event"}
OPERATIONS = {
    **dict.fromkeys(("chat", "completion", "text_completion", "generate_content"), "GENERATION"),
    "embeddings": "EMBEDDING",
    "invoke_agent": "AGENT",
    "create_agent": "AGENT",
    "execute_tool": "TOOL",
}
MODELS = (
    "langfuse.observation.model.name",
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "model",
)
NAMES = ("gen_ai.tool.name", "genkit:name", "logfire.msg", "ai.toolCall.name")
LEVELS = {
    **dict.fromkeys(("debug", "trace"), "DEBUG"),
    **dict.fromkeys(("info", "notice", "ok", "default"), "DEFAULT"),
    **dict.fromkeys(("warn", "warning"), "WARNING"),
    **dict.fromkeys(("error", "fatal", "critical"), "ERROR"),
}
SEVERITY = ["DEBUG", "DEFAULT", "WARNING", "ERROR"]


class Row:
    """One span as a row of Langfuse's: of several attributes, the first that is there counts."""

    def __init__(self, span):
        self.span, self.at = span, dict(span.attributes)
        self.input = self.first("langfuse.observation.input", "input.value")
        self.output = self.first("langfuse.observation.output", "output.value")
        self.session = self.first("langfuse.session.id", "session.id", "gen_ai.conversation.id")
        self.user = self.first("langfuse.user.id", "user.id")
        self.tags = self.first("langfuse.trace.tags")
        self.trace_name = self.first("langfuse.trace.name")
        self.environment = self.first("langfuse.environment", "deployment.environment.name")
        self.name = self.first(*NAMES) or span.name
        self.is_root = span.parent is None or bool(self.first("langfuse.internal.is_app_root"))

    def first(self, *keys):
        """Return the first attribute that is there."""
        return next((self.at[key] for key in keys if key in self.at), None)

    @property
    def type(self):
        """Its kind of observation."""
        stated = self.first("langfuse.observation.type")
        if stated in TYPES:
            return stated.upper()
        kind = self.first("openinference.span.kind")
        if kind in KINDS | {"LLM"}:
            return "GENERATION" if kind == "LLM" else kind
        operation = OPERATIONS.get(self.first("gen_ai.operation.name"))
        if operation:
            return operation
        if self.first("gen_ai.tool.name", "gen_ai.tool.call.id"):
            return "TOOL"
        return "GENERATION" if self.first(*MODELS) else "SPAN"

    @property
    def level(self):
        """How bad it is."""
        stated = LEVELS.get(str(self.first("langfuse.observation.level")).lower())
        failed = self.span.status.status_code is StatusCode.ERROR
        return stated or ("ERROR" if failed else "DEFAULT")

    @property
    def cost(self):
        """Its own cost, in US dollars."""
        details = json.loads(self.first("langfuse.observation.cost_details") or "{}")
        own = details.get("total", sum(details.values())) if details else None
        return own or self.first("gen_ai.usage.cost", "llm.cost.total") or 0.0


class Trace:
    """What Langfuse makes of a trace's rows: the last that says something wins."""

    def __init__(self, spans):
        rows = [Row(span) for span in spans]
        self.roots = [row for row in rows if row.is_root]
        self.session = self.last(row.session for row in rows)
        self.user = self.last(row.user for row in rows)
        self.tags = self.last(row.tags for row in rows)
        self.environment = self.last(row.environment for row in rows)
        self.name = self.last(row.trace_name for row in rows) or self.last(
            row.name for row in self.roots
        )
        self.input = self.last(row.input for row in rows if row.span.parent is None)
        self.cost = sum(row.cost for row in rows)
        self.level = max((row.level for row in rows), key=SEVERITY.index, default=None)

    @staticmethod
    def last(values):
        """Return the last that is not empty."""
        return next((value for value in reversed(list(values)) if value), None)


_numbers = itertools.count()


class Program:
    """A program with a watchdog and the real Langfuse client on one provider of its own."""

    def __init__(self, *, watchdog_first=True, langfuse=True, sampler=None, **options):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        usual: dict[str, Any] = {
            "on_error": reraise,
            "config": WatchdogConfig(profile=Profile.CLASSIC),
        }
        self.watchdog = WatchdogSpanProcessor(**(usual | options))
        if watchdog_first:
            self.provider.add_span_processor(self.watchdog)
        self.langfuse = langfuse and Langfuse(
            public_key=f"pk-{next(_numbers)}",
            secret_key="sk",  # noqa: S106 - nobody is asked for it
            base_url="http://127.0.0.1:9",
            tracer_provider=self.provider,
            span_exporter=self.exporter,
        )
        if not watchdog_first:
            self.provider.add_span_processor(self.watchdog)
        self.tracer = self.provider.get_tracer("openinference.instrumentation.pydantic_ai")

    def span(self, name, context=None, **facts):
        """Return an open span that is the current one, as a context manager."""
        attributes = {f"gen_ai.{key.replace('__', '.')}": value for key, value in facts.items()}
        return self.tracer.start_as_current_span(name, context=context, attributes=attributes)

    def call(self, context=None):
        """Write one turn: a model span and a tool span that say nothing of who and where."""
        with self.span("chat m", context, operation__name="chat", request__model="m") as model:
            model.set_attribute("gen_ai.usage.cost", 0.01)
        with self.span(
            "execute_tool ls",
            context,
            operation__name="execute_tool",
            tool__name="ls",
            tool__call__arguments="{}",
        ) as tool:
            tool.set_attribute("gen_ai.tool.call.result", "a b c")

    def spans(self):
        """Return what reached Langfuse, in this order."""
        self.provider.force_flush()
        return self.exporter.get_finished_spans()

    @staticmethod
    def row(span):
        """Return a span as Langfuse shows it."""
        return Row(span)

    def corrections(self):
        """Return the rows of the corrections that reached Langfuse."""
        return [Row(span) for span in self.spans() if span.name.startswith("watchdog-")]


@pytest.fixture
def trace_of():
    """Return what reads spans as a trace."""
    return Trace


@pytest.fixture
def program():
    """Return what makes programs; they are shut down when the test ends."""
    made = []

    def make(**options):
        made.append(Program(**options))
        return made[-1]

    yield make
    for one in made:
        one.provider.shutdown()
        if one.langfuse:
            one.langfuse.shutdown()
