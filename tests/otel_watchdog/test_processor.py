"""The processor, end to end through a real tracer provider."""

from typing import Any

from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_watchdog import (
    Mode,
    Profile,
    RepeatedToolCall,
    WatchdogConfig,
    current,
)
from otel_watchdog.sampling import RecordAll
from tests.otel_watchdog.traced_agent import Traced, loop


def test_a_loop_yields_one_correction_span_beside_the_judged_one():
    """The fifth equal call gives one nudge, with the tool span's parent as its parent."""
    traced = Traced()

    loop(traced)

    (correction,) = traced.corrections()
    judged = traced.exporter.get_finished_spans()[-3:]
    tool = next(span for span in judged if span.name == "execute_tool read")
    assert correction.name == "watchdog-nudge-turn-5"
    assert correction.parent == tool.parent
    assert correction.context.trace_id == tool.context.trace_id


def test_the_outcome_stands_beside_its_correction_and_is_linked_to_it():
    """In the same trace, below the same parent: what the agent did with what it was told."""
    heard: list[Any] = []
    traced = Traced(on_outcome=heard.append)

    with traced.run():
        for _ in range(5):
            traced.turn()
            traced.watchdog.mailbox.acknowledge(traced.lease())
        traced.turn()

    correction, delivered, outcome = traced.corrections()
    assert outcome.name == "watchdog-outcome-turn-6"
    assert delivered.name == "watchdog-feedback-delivered"
    assert delivered.parent.span_id == correction.context.span_id
    assert [link.context for link in outcome.links] == [correction.context]
    assert (outcome.parent, outcome.context.trace_id) == (
        correction.parent,
        correction.context.trace_id,
    )
    assert outcome.attributes["watchdog.outcome"] == "ignored"
    assert outcome.attributes["gen_ai.agent.name"] == "fixer"
    assert [o.correction.span_name for o in heard] == [correction.name]


def test_the_category_is_read_from_the_runs_span():
    """`watchdog.category` on the span of the agent decides its floor, and stands on the correction."""
    config = WatchdogConfig.load(profile=Profile.CLASSIC, categories={"login": {"min_turns": 6}})
    traced = Traced(config=config)
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "fixer",
        "watchdog.category": "login",
    }

    with traced.tracer.start_as_current_span("invoke_agent fixer", attributes=attributes):
        for _ in range(4):
            traced.turn()
        for _ in range(6):
            traced.turn(name="write")

    (correction,) = traced.corrections()
    assert correction.attributes["watchdog.category"] == "login"
    assert correction.attributes["watchdog.category.from"] == "attribute"


def test_suppressed_findings_are_told():
    """Who asks hears why a finding led to nothing."""
    held: list[Any] = []
    traced = Traced(
        config=WatchdogConfig(profile=Profile.CLASSIC, min_turns=9), on_suppressed=held.append
    )

    loop(traced)

    assert [(s.reason, s.finding.detector, s.turn) for s in held] == [
        ("floor", "repeated_tool_call", 5)
    ]


def test_honest_work_yields_none():
    """Different calls with new results are left alone."""
    traced = Traced()

    with traced.run():
        for number in range(11):
            traced.turn(arguments=f'{{"path":"{number}"}}', result=f"text {number}")

    assert traced.corrections() == []


def test_the_correction_waits_in_the_mailbox_of_its_session():
    """It is found by conversation and agent, and is leased once."""
    traced = Traced()
    loop(traced)

    first = traced.lease()

    assert [c.span_name for c in first] == ["watchdog-nudge-turn-5"]
    assert first[0].message.startswith("[watchdog]")
    assert traced.lease() == ()


class Awaited:
    """A channel that is told of spans."""

    name, barrier_ms = "awaited", 5

    def __init__(self):
        self.noted = []

    def note(self, session, ended):
        self.noted.append((session, ended))

    def catch_up(self, session):
        """Have nothing to bring."""

    def send(self, one):
        """Have nowhere to send it."""

    def close(self):
        """Hold nothing."""


def test_who_waits_for_a_judgement_is_told_of_each_span_of_an_agent():
    """With the ids that are exported, and what has the exporters send what waits."""
    channel = Awaited()
    traced = Traced(channels=[channel])
    batch = BatchSpanProcessor(sent := InMemorySpanExporter(), schedule_delay_millis=3_600_000)
    traced.provider.add_span_processor(batch)

    with traced.run():
        traced.turn()
        (tool,) = (s for s in traced.exporter.get_finished_spans() if s.name == "execute_tool read")
        waiting = sent.get_finished_spans()
        session, last = channel.noted[-1]
        last.flush(1000)
        flushed = sent.get_finished_spans()
    traced.provider.shutdown()

    assert session == traced.watchdog.find_session("c", "fixer")
    assert (last.trace_id, last.span_id) == (tool.context.trace_id, tool.context.span_id)
    assert waiting == ()
    assert tool in flushed


def test_who_waits_for_a_judgement_is_not_told_of_what_is_not_exported():
    """It would wait in vain."""
    channel = Awaited()
    traced = Traced(channels=[channel], sampler=RecordAll(ALWAYS_OFF))

    loop(traced)

    assert channel.noted == []
    assert len(traced.lease()) == 1


def test_observe_records_and_delivers_nothing():
    """In mode observe the span says so, and the mailbox stays empty."""
    traced = Traced(config=WatchdogConfig(profile=Profile.CLASSIC, mode=Mode.OBSERVE))

    loop(traced)

    assert [span.name for span in traced.corrections()] == ["watchdog-nudge-turn-5-observed"]
    assert traced.lease() == ()


def test_off_reads_nothing():
    """In mode off no session comes to be."""
    traced = Traced(config=WatchdogConfig(mode=Mode.OFF))

    loop(traced)

    assert traced.corrections() == []
    assert traced.watchdog.find_session("c", "fixer") is None


def test_correction_spans_of_ours_are_never_read():
    """A watchdog whose own spans look like tool calls would feed itself; they are skipped."""
    traced = Traced()
    ours = traced.provider.get_tracer("otel_watchdog")

    for _ in range(6):
        with ours.start_as_current_span(
            "execute_tool read",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "read",
                "gen_ai.tool.call.arguments": "{}",
            },
        ):
            pass

    assert {span.name for span in traced.corrections()} == {"execute_tool read"}


def test_a_judged_root_becomes_the_parent():
    """A correction is never a trace's root, also where the judged span is one."""
    traced = Traced(detectors=[RepeatedToolCall(threshold=2)])
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read",
        "gen_ai.tool.call.arguments": "{}",
        "gen_ai.conversation.id": "c",
    }

    for _ in range(2):
        with traced.tracer.start_as_current_span("execute_tool read", attributes=attributes):
            pass

    (correction,) = traced.corrections()
    assert correction.parent.span_id in {
        span.context.span_id for span in traced.exporter.get_finished_spans()
    }


def test_plain_spans_between_keep_the_tree_whole():
    """An application's own span between run and tool does not tear them apart."""
    traced = Traced()
    plain = traced.provider.get_tracer("my.app")
    with plain.start_as_current_span("step"):
        pass

    with traced.run():
        for _ in range(5):
            with plain.start_as_current_span("step"):
                traced.turn()

    assert [span.name for span in traced.corrections()] == ["watchdog-nudge-turn-5"]


def test_an_unknown_scope_is_read_by_its_attributes():
    """Spans written by hand under any scope count, also after plain ones of the same scope."""
    traced = Traced()
    traced.tracer = traced.provider.get_tracer("my.app")
    with traced.tracer.start_as_current_span("boot"):
        pass

    loop(traced)

    assert [span.name for span in traced.corrections()] == ["watchdog-nudge-turn-5"]


def test_the_watchdog_made_last_is_the_current_one():
    """Adapters find it without being told."""
    traced = Traced()

    assert current() is traced.watchdog
