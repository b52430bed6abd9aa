"""The twelve agents of the demo."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import httpx
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Span

from otel_watchdog_collector.demo import scripts
from otel_watchdog_collector.demo.dialects import Dialect, GenAI, OpenInference, VercelAI
from otel_watchdog_collector.demo.steps import NewScript

BARRIER_MS: Final = 1000
"""How long an agent waits for what is said of its last turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One agent of the demo."""

    name: str
    framework: str
    about: str
    """What becomes of it, for people."""
    scope: str
    """Of its framework's instrumentation."""
    dialect: Dialect
    script: NewScript
    is_real: bool = False
    """Whether the framework itself runs, where it is installed; see `framework_agent`."""
    hangs: bool = False
    """Whether its run never ends, and nothing happens in it any more."""


MEMBERS: Final[Sequence[Member]] = (
    Member(
        name="order-desk",
        framework="pydantic-ai",
        about="answers, as it should",
        scope="pydantic-ai",
        dialect=GenAI("openai"),
        script=scripts.answers,
        is_real=True,
    ),
    Member(
        name="build-fixer",
        framework="pydantic-ai",
        about="reads one file again and again",
        scope="pydantic-ai",
        dialect=GenAI("openai"),
        script=scripts.loops,
        is_real=True,
    ),
    Member(
        name="build-watcher",
        framework="langchain",
        about="polls a build that goes on: honest work",
        scope="openinference.instrumentation.langchain",
        dialect=OpenInference(),
        script=scripts.polls,
    ),
    Member(
        name="auditor",
        framework="llama-index",
        about="reads page after page: honest work",
        scope="openinference.instrumentation.llama_index",
        dialect=OpenInference(),
        script=scripts.reads_pages,
    ),
    Member(
        name="price-scout",
        framework="openai-agents",
        about="rewords one question",
        scope="openinference.instrumentation.openai_agents",
        dialect=OpenInference(),
        script=scripts.rewords,
    ),
    Member(
        name="planner",
        framework="crewai",
        about="is refused by its model's provider",
        scope="openinference.instrumentation.crewai",
        dialect=OpenInference(),
        script=scripts.is_walled,
    ),
    Member(
        name="file-clerk",
        framework="smolagents",
        about="ignores what it is told",
        scope="openinference.instrumentation.smolagents",
        dialect=OpenInference(),
        script=scripts.ignores,
    ),
    Member(
        name="release-bot",
        framework="agent-framework",
        about="does and undoes one thing",
        scope="agent_framework",
        dialect=GenAI("azure.ai.openai"),
        script=scripts.goes_in_circles,
    ),
    Member(
        name="note-taker",
        framework="vercel-ai",
        about="is done, and goes on",
        scope="ai",
        dialect=VercelAI(),
        script=scripts.is_done_and_goes_on,
    ),
    Member(
        name="data-loader",
        framework="google-genai",
        about="runs into one error again and again",
        scope="opentelemetry.instrumentation.genai.google",
        dialect=GenAI("gcp.gemini"),
        script=scripts.fails_and_recovers,
    ),
    Member(
        name="crawler",
        framework="semantic-kernel",
        about="has crashed in the middle of its run",
        scope="opentelemetry.instrumentation.genai.semantic_kernel",
        dialect=GenAI("openai"),
        script=scripts.hangs,
        hangs=True,
    ),
    Member(
        name="mail-desk",
        framework="langgraph",
        about="answers, as it should",
        scope="openinference.instrumentation.langchain",
        dialect=OpenInference(),
        script=scripts.answers,
    ),
)
"""All twelve."""


def provider_of(member: Member, url: str, *first: SpanProcessor) -> TracerProvider:
    """Return a tracer provider of an agent's own, with OpenTelemetry's stock exporter at its end.

    Args:
        member: Whose; its framework stands for its service.
        url: Of the service that watches.
        *first: Processors before the exporter's.
    """
    provider = TracerProvider(
        resource=Resource.create({"service.name": member.framework}), shutdown_on_exit=False
    )
    for processor in first:
        provider.add_span_processor(processor)
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
    return provider


def play(member: Member, url: str, delay: float, stop: threading.Event) -> None:
    """Run a scripted agent: after each turn it asks the service what it has to say.

    The run of one that hangs stays open; its process ends as a crashed one does, without a word.

    Args:
        member: Whose script there is.
        url: Of the service.
        delay: Seconds that a turn takes.
        stop: Set when the agent is to end.
    """
    provider = provider_of(member, url)
    tracer = provider.get_tracer(member.scope)
    session = f"{member.name}-1"
    steps = member.script()
    told: str | None = None
    with (
        httpx.Client(base_url=url, timeout=30) as client,
        member.dialect.run(tracer, member.name, session),
    ):
        for number in range(1, 1000):
            try:
                step = steps.send(told) if number > 1 else next(steps)
            except StopIteration:
                break
            last = member.dialect.turn(tracer, member.name, session, number, step)
            told = _ask(client, session, last)
            if stop.wait(delay):
                break
        if member.hangs:
            provider.shutdown()  # so that its run is never seen to end
    provider.shutdown()


def _ask(client: httpx.Client, session: str, last: Span) -> str | None:
    """Return what the service says of the turns so far, once it has judged the last span."""
    context = last.get_span_context()
    query = {
        "claim": "1",
        "after": f"{context.trace_id:032x}-{context.span_id:016x}",
        "barrier_ms": str(BARRIER_MS),
    }
    answer = client.get(f"/v1/feedback/{session}", params=query).json()
    return next((one["message"] for one in answer["corrections"]), None)
