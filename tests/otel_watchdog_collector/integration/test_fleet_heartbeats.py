"""A real agent's process tells of its open spans, through the stock exporters."""

import threading
from typing import Any

import pytest
from opentelemetry import _logs
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_watchdog import WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.testing import reraise
from tests.otel_watchdog_collector.integration.fleet_calls import look


@pytest.fixture
def traced(monkeypatch):
    """Return what makes a traced program that exports spans and logs to a service."""
    made: list[Any] = []

    def start(url, **settings):
        resource = Resource({"service.name": "shop"})
        logs = LoggerProvider(resource, shutdown_on_exit=False)
        exporter = OTLPLogExporter(f"{url}/v1/logs")
        logs.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        monkeypatch.setattr(_logs._internal, "_LOGGER_PROVIDER", logs)
        spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        config = WatchdogConfig(**settings)
        spans.add_span_processor(WatchdogSpanProcessor(config=config, on_error=reraise))
        spans.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
        made.extend([spans, logs])
        return spans

    yield start
    for one in made:
        one.shutdown()


def test_an_open_run_is_seen_by_its_heartbeats(serve, traced):
    """From the processor through the stock exporter: alive while open, gone with a goodbye."""
    running = serve()
    provider = traced(running.url, heartbeat_seconds=20)
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"}

    with provider.get_tracer("t").start_as_current_span(
        "invoke_agent fixer", attributes=attributes
    ):
        _until(lambda: running.service.meters["heartbeats_total"])
        look(running)
        during = running.client.get("/api/v1/conditions").json()["items"]
    provider.shutdown()
    look(running)
    after = running.client.get("/api/v1/conditions").json()["items"]

    assert [(one["id"], one["state"]) for one in during] == [("shop/fixer", "ready")]
    assert during[0]["message"].startswith("a span of it began or ended")
    assert [(one["state"], one["message"]) for one in after] == [
        ("unknown", "its process ended as it should")
    ]


def test_without_heartbeats_an_agent_is_never_dead(serve, traced):
    """However long its run has been open: nobody can tell."""
    running = serve()
    provider = traced(running.url)
    with provider.get_tracer("t").start_as_current_span(
        "chat m", attributes={"gen_ai.operation.name": "chat", "gen_ai.agent.name": "fixer"}
    ):
        pass
    fleet = running.service.fleets._fleet("default")
    _until(lambda: fleet.agents)
    now = running.service._clock()

    states = set()
    for hours in range(1, 48):
        fleet.sweep(now + hours * 3600, fleet.mode)
        states.add(fleet.agents["shop/fixer"].liveness.value)

    assert states == {"unknown"}
    assert running.service.meters["heartbeats_total"] == 0


def _until(holds):
    """Wait until something holds."""
    pause = threading.Event()
    for _ in range(2000):
        if holds():
            return
        pause.wait(0.005)
    raise AssertionError("it did not come to that")
