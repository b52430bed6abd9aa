"""With a barrier an agent is corrected at the turn that its service's finding is due, each time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

from otel_watchdog import Mode, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.adapters.pydantic_ai import WatchdogCapability
from otel_watchdog.channels import HttpStream
from otel_watchdog.delivery import Delivery, is_ours
from otel_watchdog.testing import reraise

RUNS = 10
TURNS = 13
SECONDS = 10
RULES: dict[str, Any] = {"refractory_seconds": 0, "refractory_turns": 2}

BARRIER_MS = 1000
"""Far more than it takes, so that a busy machine makes no difference."""


class Watched:
    """A process with an agent, whose corrections come from a channel alone, if it has one."""

    def __init__(self, *exporting, channel=None):
        self.channel = channel
        self.found: list[int] = []
        """Turns of the findings that corrections were made for, as they are leased."""
        self.watchdog = WatchdogSpanProcessor(
            config=WatchdogConfig(mode=Mode.FEEDBACK, **RULES),
            detectors=[] if channel else None,
            channels=[channel] if channel else None,
            on_error=reraise,
        )
        self.watchdog.mailbox.listen(
            on_lease=lambda one: self.found.append(one.turn),
            on_claim=lambda _: None,
        )
        self.provider = TracerProvider(shutdown_on_exit=False)
        for processor in (self.watchdog, *exporting):
            self.provider.add_span_processor(processor)
        self.tracer = self.provider.get_tracer("opentelemetry.instrumentation.test_agent")

    def run(self, conversation, before_turn=lambda _: None):
        """Run an agent that makes the same call at each turn; return when it is told, and of what.

        That is, pairs of turns: the one at which a correction comes, and the finding's.
        """
        delivery = Delivery(self.watchdog)
        who = {"gen_ai.agent.name": "fixer", "gen_ai.conversation.id": conversation}
        told: list[tuple[int, int]] = []
        with self.span("invoke_agent", who):
            for turn in range(1, TURNS):
                before_turn(turn)
                with delivery.begin(conversation, conversation=conversation, agent="fixer") as at:
                    assert at.number == turn
                    told += [(turn, self.found.pop(0)) for _ in at.texts()]
                    with self.span("chat", who):
                        pass
                call = {"gen_ai.tool.name": "ls", "gen_ai.tool.call.id": f"{conversation}-{turn}"}
                with self.span("execute_tool", who | call) as span:
                    span.set_attribute("gen_ai.tool.call.arguments", "{}")
                    span.set_attribute("gen_ai.tool.call.result", "a b c")
        return told

    def capability(self):
        """Return the adapter of an agent in pydantic-ai."""
        return WatchdogCapability(self.watchdog)

    def span(self, operation, attributes):
        """Begin a span of an agent."""
        return self.tracer.start_as_current_span(
            operation, attributes={"gen_ai.operation.name": operation} | attributes
        )


def ls():
    """Return what is always the same."""
    return "a b c"


@pytest.fixture
def watch():
    """Return what makes processes that listen to a service; each is shut down at the end."""
    made = []

    def make(running, *exporting, **options):
        made.append(Watched(*exporting, channel=HttpStream(running.url, **options)))
        return made[-1]

    yield make
    for one in made:
        one.provider.shutdown()


def over_http(running):
    """Export as most do: in batches, every five seconds."""
    return BatchSpanProcessor(OTLPSpanExporter(f"{running.url}/v1/traces"))


def over_grpc(running):
    """Likewise."""
    endpoint = f"http://127.0.0.1:{running.service.grpc_port}"
    return BatchSpanProcessor(GrpcExporter(endpoint, insecure=True))


def at_once(running):
    """Export each span when it ends."""
    return SimpleSpanProcessor(OTLPSpanExporter(f"{running.url}/v1/traces"))


@pytest.fixture(scope="module")
def due():
    """Return when a watchdog in the agent's own process corrects it: the turn after each finding.

    Pairs of turns, as `Watched.run` returns.
    """
    own = Watched()
    found = own.run("c")
    own.provider.shutdown()
    assert len(found) > 1
    assert [turn for _, turn in found] == [told - 1 for told, _ in found]
    return found


@pytest.mark.parametrize("exporting", [over_http, over_grpc, at_once])
def test_corrected_at_the_turns_that_are_due(serve, watch, due, exporting):
    """Up the ladder, in every run, as by a watchdog in the process, whatever the exporter."""
    running = serve(grpc_port=0, watchdog=RULES)
    watched = watch(running, exporting(running), barrier_ms=BARRIER_MS)

    told = [watched.run(f"c{number}") for number in range(RUNS)]

    assert told == [due] * RUNS
    assert watched.channel.missed == 0


def test_workers_make_no_difference(serve, watch, due, agent_spans):
    """Who judges is not who answers. They are busy until they have started."""
    running = serve(workers=2, watchdog=RULES)
    for seed in range(1, 9):  # answered once it is judged
        body = agent_spans.request(conversation=f"w{seed}", seed=seed).SerializeToString()
        headers = {"content-type": "application/x-protobuf"}
        running.client.post("/v1/traces", content=body, headers=headers).raise_for_status()
    watched = watch(running, over_http(running), barrier_ms=BARRIER_MS)

    assert [watched.run(f"c{number}") for number in range(RUNS)] == [due] * RUNS


def test_without_one_a_batch_is_too_late(serve, watch):
    """The spans are with the exporter while the agent goes on: that is what a barrier is for."""
    running = serve(watchdog=RULES)
    exporter = OTLPSpanExporter(f"{running.url}/v1/traces")
    watched = watch(running, BatchSpanProcessor(exporter, schedule_delay_millis=3_600_000))

    assert watched.run("c") == []


def test_exporters_to_others_are_left_alone_where_one_is_named(serve, watch, due):
    """Else each turn would send to a backend, too, and wait for it."""
    running = serve(watchdog=RULES)
    ours = over_http(running)
    kept = InMemorySpanExporter()
    theirs = BatchSpanProcessor(kept, schedule_delay_millis=3_600_000)
    watched = watch(running, theirs, ours, barrier_ms=BARRIER_MS, flush=ours.force_flush)

    assert watched.run("c") == due
    assert kept.get_finished_spans() == ()


def test_several_agents_at_once_are_each_corrected_when_it_is_due(serve, watch, due):
    """Threads of one process, which share exporter and channel."""
    running = serve(watchdog=RULES)
    watched = watch(running, over_http(running), barrier_ms=BARRIER_MS)

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(watched.run, "abcd"))

    assert [[turn for turn, _ in one] for one in told] == [[turn for turn, _ in due]] * 4


def test_an_agent_goes_on_when_its_service_stops(serve, watch, due):
    """In the middle of a run: it is told nothing more, and nothing raises."""
    running = serve(watchdog=RULES)
    exporter = OTLPSpanExporter(f"{running.url}/v1/traces", timeout=1)
    watched = watch(running, BatchSpanProcessor(exporter), barrier_ms=BARRIER_MS)
    second = due[1][0]

    def stop(turn):
        if turn == second - 1:
            running.wait(running.service.stop())

    told = watched.run("c", stop)

    assert told == due[:1]
    assert watched.channel.missed == TURNS - second + 1


def test_an_event_loops_agent_is_corrected_when_it_is_due(serve, watch):
    """pydantic-ai's, by its adapter: right after the turn in which the pattern was complete."""
    running = serve(watchdog=RULES)
    watched = watch(running, over_http(running), barrier_ms=BARRIER_MS)
    told = []

    def answer(messages, _):
        turn = sum(isinstance(one, ModelResponse) for one in messages) + 1
        parts = [part for one in messages for part in one.parts]
        if any(isinstance(part, UserPromptPart) and is_ours(part.content) for part in parts):
            told.append(turn)
            return ModelResponse(parts=[TextPart("I stop.")])
        assert turn < TURNS
        return ModelResponse(parts=[ToolCallPart("ls", {}, f"call_{turn}")])

    agent = Agent(FunctionModel(answer), name="fixer", capabilities=[watched.capability()])
    agent.instrument = InstrumentationSettings(tracer_provider=watched.provider)
    agent.tool_plain(ls)
    for number in range(RUNS):
        asyncio.run(agent.run("Look.", conversation_id=f"c{number}"))

    assert len(told) == RUNS
    assert told == [turn + 1 for turn in watched.found]
    assert len(set(told)) == 1
