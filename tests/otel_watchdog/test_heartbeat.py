"""Heartbeats: what they tell of open spans, and that the program never notices them."""

import logging
import os
import threading

import pytest
from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import WatchdogConfig, WatchdogSpanProcessor, heartbeat, semconv
from otel_watchdog.heartbeat import MAX_AGENTS, MAX_NAMES, TICK_SECONDS, Heartbeat
from otel_watchdog.streams.span_tree import SpanTree
from otel_watchdog.testing import reraise

SECONDS = 10


class Program:
    """Opens and ends spans, and takes heartbeats when it is told to, on a clock of its own."""

    def __init__(self, *, own_logger=True):
        self.now = 1000.0
        self.told: list[dict[str, object]] = []
        self.failed: list[str] = []
        self.tracer = trace.NoOpTracer()
        self.tree = SpanTree(10_000)
        self.numbers = iter(range(1, 100_000))
        self.heartbeat = Heartbeat(
            self.tree.open_spans,
            interval_seconds=20.0,
            on_error=lambda place, _: self.failed.append(place),
            emit=self.hand_on if own_logger else None,
            clock=lambda: self.now,
        )
        self.emit = self.take

    def hand_on(self, record):
        """Pass a record to what takes records now."""
        self.emit(record)

    def take(self, record):
        """Take a record, as a logger does."""
        assert record.event_name == semconv.HEARTBEAT_EVENT
        self.told.append(dict(record.attributes))

    def open(self, name, agent=None, parent=None):
        """Begin a span; return its number."""
        number = next(self.numbers)
        self.tree.open(number, parent, Span(name, agent), None)
        return number

    def end(self, number):
        """End a span."""
        self.tree.close(number, None)

    def beat(self, after=0.0):
        """Let time pass, and what is due be sent; return it by the agent's name."""
        self.now += after
        self.told.clear()
        self.heartbeat.beat()
        return {told.get(semconv.GEN_AI_AGENT_NAME): told for told in self.told}


class Span:
    """As much of an open span as is read."""

    def __init__(self, name, agent):
        self.name = name
        self.attributes = {"gen_ai.agent.name": agent} if agent else {}


@pytest.fixture
def program():
    """Return a program with heartbeats."""
    return Program()


def test_an_open_run_is_told_of_with_names_and_ages(program):
    """Of each agent: what is open, for how long, and when something last happened."""
    run = program.open("invoke_agent fixer", "fixer")
    program.beat()
    program.now += 30
    program.open("execute_tool build", parent=run)
    program.beat()

    told = program.beat(after=60)["fixer"]

    assert told == {
        semconv.GEN_AI_AGENT_NAME: "fixer",
        semconv.HEARTBEAT_OPEN_SPANS: 2,
        semconv.HEARTBEAT_OLDEST_OPEN_SECONDS: 90.0,
        semconv.HEARTBEAT_IDLE_SECONDS: 60.0,
        semconv.HEARTBEAT_NAMES: ["invoke_agent fixer", "execute_tool build"],
        semconv.HEARTBEAT_AGES: [90.0, 60.0],
        semconv.HEARTBEAT_UPTIME_SECONDS: 90.0,
        semconv.HEARTBEAT_STOPPING: False,
    }


def test_a_change_is_told_at_once_and_silence_only_now_and_then(program):
    """Looks are seconds apart; an agent that does nothing is told of every interval."""
    program.open("invoke_agent fixer", "fixer")
    assert "fixer" in program.beat()

    quiet = [bool(program.beat(after=TICK_SECONDS)) for _ in range(8)]
    program.open("chat m", "fixer")
    changed = program.beat(after=TICK_SECONDS)

    assert quiet == [False, False, False, True] * 2
    assert changed["fixer"][semconv.HEARTBEAT_OPEN_SPANS] == 2


def test_an_idle_agent_is_still_told_of(program):
    """Its process lives: nothing open, and since when."""
    run = program.open("invoke_agent fixer", "fixer")
    program.beat()
    program.end(run)
    program.beat(after=10)

    told = program.beat(after=600)["fixer"]

    assert told[semconv.HEARTBEAT_OPEN_SPANS] == 0
    assert told[semconv.HEARTBEAT_IDLE_SECONDS] == 600.0


def test_an_agent_that_waits_for_another_is_not_idle(program):
    """What the sub-agent does counts for its parent, too; its spans are its own."""
    outer = program.open("invoke_agent lead", "lead")
    program.beat()
    inner = program.open("invoke_agent helper", "helper", parent=outer)
    program.beat(after=100)
    program.open("chat m", parent=inner)
    program.beat(after=100)

    told = program.beat(after=20)

    assert told["lead"][semconv.HEARTBEAT_IDLE_SECONDS] == 20.0
    assert told["lead"][semconv.HEARTBEAT_OPEN_SPANS] == 1
    assert told["helper"][semconv.HEARTBEAT_OPEN_SPANS] == 2


def test_a_name_that_is_known_late_takes_the_place_of_none(program):
    """Some set the agent's name while its span is open."""
    number = program.open("agent run")
    assert set(program.beat()) == {None}

    program.tree.open_spans[number].span.attributes["gen_ai.agent.name"] = "fixer"

    assert set(program.beat(after=TICK_SECONDS)) == {"fixer"}
    assert set(program.beat(after=60)) == {"fixer"}


def test_everything_is_bounded(program):
    """Names of spans, and agents; one that is dropped says goodbye instead of falling silent."""
    run = program.open("invoke_agent a0", "a0")
    for number in range(100):
        program.open(f"execute_tool {number}" + "x" * 500, parent=run)
    first = program.beat()["a0"]
    for number in range(1, MAX_AGENTS + 1):
        program.open("invoke_agent", f"a{number}")

    told = program.beat(after=TICK_SECONDS)

    assert len(first[semconv.HEARTBEAT_NAMES]) == len(first[semconv.HEARTBEAT_AGES]) == MAX_NAMES
    assert max(map(len, first[semconv.HEARTBEAT_NAMES])) <= heartbeat.MAX_CHARS
    assert told["a0"][semconv.HEARTBEAT_STOPPING] is True
    assert len(program.beat(after=60)) == MAX_AGENTS


def test_what_fails_is_counted_and_tried_again(program):
    """A logger that raises does not end the heartbeats."""
    program.open("invoke_agent fixer", "fixer")

    def fail(_):
        raise RuntimeError("planted")

    program.emit = fail
    program.beat()
    program.emit = program.take

    assert program.failed == ["heartbeat"]
    assert set(program.beat(after=60)) == {"fixer"}


def test_a_thread_begins_with_the_first_span_and_says_goodbye(program):
    """Nothing runs before; after the end nothing runs any more."""
    before = threading.active_count()
    program.open("invoke_agent fixer", "fixer")
    came = threading.Event()

    def emit(record):
        program.take(record)
        came.set()

    program.emit = emit

    program.heartbeat.touch()
    assert came.wait(SECONDS)
    program.heartbeat.close()
    program.heartbeat.close()

    assert [told[semconv.HEARTBEAT_STOPPING] for told in program.told] == [False, True]
    assert threading.active_count() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_beats_for_itself(program):
    """The thread stays with the parent; the child's begins with its own first span."""
    program.open("invoke_agent parent", "parent")
    program.heartbeat.touch()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        program.emit = lambda record: os.write(
            writing, str(record.attributes[semconv.GEN_AI_AGENT_NAME]).encode() + b"\n"
        )
        program.tree.open_spans.clear()
        program.open("invoke_agent child", "child")
        program.heartbeat.touch()
        program.heartbeat.close()
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)

    with os.fdopen(reading, "rb") as said:
        told = set(said.read().split())

    program.heartbeat.close()
    assert told == {b"child"}


def test_a_program_without_a_logger_provider_is_told_so_once(monkeypatch, caplog):
    """Heartbeats that go nowhere would make every agent look as if it sent none."""
    monkeypatch.setattr(_logs._internal, "_LOGGER_PROVIDER", None)
    program = Program(own_logger=False)
    program.open("invoke_agent fixer", "fixer")

    with caplog.at_level(logging.WARNING):
        program.beat()
        program.beat(after=60)

    assert [record.message[:22] for record in caplog.records] == ["heartbeats go nowhere:"]


def test_records_go_to_the_logger_provider_of_the_program(monkeypatch):
    """As OTLP log records with the event's name."""
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    monkeypatch.setattr(_logs._internal, "_LOGGER_PROVIDER", provider)
    program = Program(own_logger=False)
    program.open("invoke_agent fixer", "fixer")

    program.beat()

    (found,) = exporter.get_finished_logs()
    assert found.log_record.event_name == "watchdog.heartbeat"
    assert dict(found.log_record.attributes or {})["gen_ai.agent.name"] == "fixer"
    assert found.instrumentation_scope is not None
    assert found.instrumentation_scope.name == semconv.SCOPE


def test_a_processor_sends_them_where_the_settings_ask_for_it(monkeypatch):
    """From the first span of an agent to the goodbye at the end."""
    exporter = InMemoryLogRecordExporter()
    logs = LoggerProvider(shutdown_on_exit=False)
    logs.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    monkeypatch.setattr(_logs._internal, "_LOGGER_PROVIDER", logs)
    provider = TracerProvider(shutdown_on_exit=False)
    config = WatchdogConfig(heartbeat_seconds=20)
    provider.add_span_processor(WatchdogSpanProcessor(config=config, on_error=reraise))

    with provider.get_tracer("t").start_as_current_span(
        "invoke_agent fixer",
        attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"},
    ):
        provider.shutdown()

    beats = [
        dict(one.log_record.attributes or {})
        for one in exporter.get_finished_logs()
        if one.log_record.event_name == semconv.HEARTBEAT_EVENT
    ]
    assert beats[-1][semconv.HEARTBEAT_STOPPING] is True
    assert beats[-1][semconv.HEARTBEAT_NAMES] == ("invoke_agent fixer",)
    assert {one["gen_ai.agent.name"] for one in beats} == {"fixer"}


def test_without_the_setting_there_is_no_thread():
    """It is asked for, never given."""
    before = threading.active_count()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(WatchdogSpanProcessor(config=WatchdogConfig()))

    provider.get_tracer("t").start_span("invoke_agent fixer").end()

    assert threading.active_count() == before
    provider.shutdown()
