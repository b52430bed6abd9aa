"""The processor, end to end through a real tracer provider."""

import logging
import os
import threading
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_watchdog import (
    InProcess,
    Mode,
    Profile,
    RepeatedToolCall,
    ToolCall,
    WatchdogConfig,
    WatchdogSpanProcessor,
    current,
)
from otel_watchdog.dialects import GenAI
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

    correction, outcome = traced.corrections()
    assert outcome.name == "watchdog-outcome-turn-6"
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


@pytest.mark.parametrize("place", ["detector", "dialect", "channel", "policy"])
def test_an_exception_of_ours_never_reaches_the_program(place, caplog):
    """Whatever a plug-in raises is logged once, and the traced program goes on."""

    class Broken:
        name = "broken"
        watches = (ToolCall,)
        needs = ()
        scopes = ("pydantic-ai",)
        prefixes = ("gen_ai.",)

        def fail(self, *_, **__):
            raise RuntimeError("planted")

        observe = read = send = decide = start_run = claim = close = restart = fail

    plugins: dict[str, dict[str, Any]] = {
        "detector": {"detectors": [Broken(), RepeatedToolCall()]},
        "dialect": {"dialects": [Broken(), GenAI()]},
        "channel": {"channels": [Broken(), InProcess()]},
        "policy": {"policy": Broken()},
    }
    traced = Traced(**plugins[place], on_error=None)

    with caplog.at_level(logging.ERROR):
        loop(traced, turns=8)
        traced.provider.shutdown()

    assert len(traced.exporter.get_finished_spans()) >= 17
    assert [r for r in caplog.records if "goes on" in r.getMessage()]
    if place != "policy":
        assert [span.name for span in traced.corrections()] == ["watchdog-nudge-turn-5"]


def test_a_dialect_that_keeps_failing_is_switched_off(caplog):
    """After three errors it is not asked any more, and the log has one line of it."""

    class Broken:
        name = "broken"
        scopes = ("pydantic-ai",)
        prefixes = ("gen_ai.",)
        asked = 0

        def read(self, _):
            type(self).asked += 1
            raise RuntimeError("planted")

    traced = Traced(dialects=[Broken(), GenAI()], on_error=None)

    with caplog.at_level(logging.ERROR):
        loop(traced, turns=4)

    assert Broken.asked == 3
    assert len(caplog.records) == 1


def test_threads_end_spans_at_once():
    """Sixteen agents on sixteen threads: each is corrected once, in its own session."""
    traced = Traced()
    begin = threading.Barrier(16)

    def work(number):
        begin.wait()
        loop(traced, turns=6, conversation=f"c{number}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    sessions = [span.attributes["watchdog.session"] for span in traced.corrections()]
    assert sorted(sessions) == sorted(f"c{n}" for n in range(16))


def test_an_isolated_provider_gets_its_corrections():
    """Nothing goes to the global provider when the spans come from another one."""
    first, second = Traced(), Traced()

    loop(first)

    assert len(first.corrections()) == 1
    assert second.corrections() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_watches_on():
    """A lock held by another thread at the moment of the fork does not hang the child."""
    traced = Traced()
    traced.watchdog._lock.acquire()
    child = os.fork()
    if child == 0:
        loop(traced)
        os._exit(len(traced.corrections()))
    traced.watchdog._lock.release()

    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 1


def test_shutdown_works_twice_and_ends_the_watch():
    """Spans after a shutdown are not read."""
    traced = Traced()
    traced.watchdog.shutdown()
    traced.watchdog.shutdown()

    loop(traced)

    assert traced.corrections() == []
    assert traced.watchdog.force_flush()


def test_unsampled_spans_are_not_seen_and_do_no_harm():
    """A sampler that drops everything leaves the watchdog blind, not broken."""
    traced = Traced(sampler=ALWAYS_OFF)

    loop(traced)

    assert traced.corrections() == []


def test_the_watchdog_made_last_is_the_current_one():
    """Adapters find it without being told."""
    traced = Traced()

    assert current() is traced.watchdog


def test_open_spans_are_bounded():
    """Spans that never end are dropped at the limit, oldest first."""
    traced = Traced(config=WatchdogConfig(max_open_spans=16))

    for _ in range(40):
        traced.tracer.start_span("chat m", attributes={"gen_ai.operation.name": "chat"})

    assert len(traced.watchdog._open_spans) == 16
    assert trace.get_current_span() is trace.INVALID_SPAN
