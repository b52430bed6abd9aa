"""An agent's own process, which only exports OTLP, is corrected by the service."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_watchdog import Mode, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.channels.http_stream import HttpStream
from otel_watchdog.testing import reraise

SECONDS = 10


class Backend:
    """A real OTLP/HTTP server that keeps what it is sent."""

    def __init__(self):
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.got = threading.Event()
        self.status = 200
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                if backend.status == 200:
                    backend.requests.append((self.path, dict(self.headers), body))
                self.send_response(backend.status)
                self.send_header("content-length", "0")
                self.end_headers()
                backend.got.set()

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def spans(self):
        """Return resource attributes and span of all that came."""
        return [
            ({p.key: p.value.string_value for p in group.resource.attributes}, span)
            for _, _, body in self.requests
            for group in ExportTraceServiceRequest.FromString(body).resource_spans
            for part in group.scope_spans
            for span in part.spans
        ]

    def close(self):
        """Stop it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def backend():
    """Return a backend, such as Langfuse or Phoenix are."""
    made = Backend()
    yield made
    made.close()


def tool_call(tracer, turn):
    """Write the spans of one turn, as an instrumentation does."""
    common = {"gen_ai.agent.name": "fixer", "gen_ai.conversation.id": "c1"}
    with tracer.start_as_current_span(
        "chat m", attributes={**common, "gen_ai.operation.name": "chat"}
    ):
        pass
    with tracer.start_as_current_span(
        "execute_tool ls",
        attributes={
            **common,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "ls",
            "gen_ai.tool.call.id": f"call-{turn}",
            "gen_ai.tool.call.arguments": "{}",
            "gen_ai.tool.call.result": "a b c",
        },
    ):
        pass


def test_an_agent_is_corrected_at_its_next_turn(serve, backend, monkeypatch):
    """Its spans go out, the correction comes in by the channel, and stands in its trace."""
    running = serve(destinations=[{"name": "backend", "endpoint": backend.url}])
    arrived = threading.Event()
    channel = HttpStream(running.url)
    watchdog = WatchdogSpanProcessor(
        config=WatchdogConfig(mode=Mode.FEEDBACK),
        detectors=[],
        channels=[channel],
        on_error=reraise,
    )
    exporter = OTLPSpanExporter(f"{running.url}/v1/traces")
    provider = TracerProvider(
        resource=Resource.create({"service.name": "shop"}), shutdown_on_exit=False
    )
    provider.add_span_processor(watchdog)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("opentelemetry.instrumentation.test_agent")
    put = watchdog.mailbox.send

    def receive(correction):
        put(correction)
        arrived.set()

    monkeypatch.setattr(watchdog.mailbox, "send", receive)

    with tracer.start_as_current_span(
        "invoke_agent fixer",
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "fixer",
            "gen_ai.conversation.id": "c1",
        },
    ) as run:
        for turn in range(1, 9):
            tool_call(tracer, turn)
        assert arrived.wait(SECONDS)
        session = watchdog.find_session("c1", "fixer")
        assert session is not None
        leased = watchdog.mailbox.lease(session)
        watchdog.mailbox.acknowledge(leased)
    for _ in range(100):
        if running.service.meters["delivered_corrections_total"]:
            break
        threading.Event().wait(0.05)
    assert backend.got.wait(SECONDS)
    provider.shutdown()

    ((resource, span),) = backend.spans()
    assert [one.message[:10] for one in leased] == ["[watchdog]"]
    assert running.service.meters["delivered_corrections_total"] == 1
    assert span.name == f"watchdog-nudge-turn-{leased[0].turn}"
    assert int.from_bytes(span.trace_id) == run.get_span_context().trace_id
    assert int.from_bytes(span.parent_span_id) == run.get_span_context().span_id
    assert resource["service.name"] == "shop"


def test_what_came_of_a_correction_stands_in_the_trace_too(serve, backend, agent_spans):
    """An agent that goes on as before has ignored it: a span of its own, linked to the first."""
    running = serve(destinations=[{"name": "backend", "endpoint": backend.url}])
    headers = {"content-type": "application/x-protobuf"}
    for turns in (range(1, 9), range(9, 20)):
        body = agent_spans.request(turns=turns).SerializeToString()
        running.client.post("/v1/traces", content=body, headers=headers)
        running.client.get("/v1/feedback/conv?claim=1")
    spans: dict[str, Any] = {}
    found: list[str] = []
    for _ in range(100):
        spans = {span.name: span for _, span in backend.spans()}
        found = [name for name in spans if name.startswith("watchdog-outcome")]
        if found:
            break
        threading.Event().wait(0.05)

    outcome, first = spans[found[0]], spans["watchdog-nudge-turn-6"]
    assert outcome.trace_id == first.trace_id
    assert [link.span_id for link in outcome.links] == [first.span_id]
    assert outcome.parent_span_id == first.parent_span_id


def test_pass_through_hands_on_what_came(serve, backend, agent_spans):
    """Byte for byte, with the type and compression that it came in; other destinations get none."""
    running = serve(
        destinations=[
            {
                "name": "all",
                "endpoint": backend.url,
                "pass_through": True,
                "headers": {"x-key": "k"},
            }
        ]
    )
    body = agent_spans.request(turns=[1]).SerializeToString()

    running.client.post(
        "/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}
    )
    assert backend.got.wait(SECONDS)

    ((path, headers, sent),) = backend.requests
    assert (path, headers["x-key"], sent) == ("/v1/traces", "k", body)


def test_what_a_destination_cannot_take_waits_for_the_next_start(
    backend, agent_spans, serve, tmp_path
):
    """An outage of the backend loses no correction span."""
    settings = {
        "store": f"sqlite:{tmp_path}/w.db",
        "destinations": [{"name": "backend", "endpoint": backend.url}],
    }
    backend.status = 503
    running = serve(**settings)
    body = agent_spans.request().SerializeToString()
    running.client.post(
        "/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}
    )
    assert backend.got.wait(SECONDS)
    running.wait(running.service.stop())
    backend.status = 200
    backend.got.clear()

    serve(**settings)
    assert backend.got.wait(SECONDS)

    assert [span.name for _, span in backend.spans()] == ["watchdog-nudge-turn-6"]


def test_heartbeats_say_who_lives(serve, agent_spans):
    """Without them an agent is unknown, never dead."""
    running = serve()
    body = agent_spans.request(turns=[1]).SerializeToString()
    beat = {
        "resourceLogs": [
            {
                "resource": {
                    "attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]
                },
                "scopeLogs": [
                    {
                        "logRecords": [
                            {
                                "eventName": "watchdog.heartbeat",
                                "attributes": [
                                    {
                                        "key": "gen_ai.agent.name",
                                        "value": {"stringValue": "beating"},
                                    },
                                    {
                                        "key": "watchdog.open_spans",
                                        "value": {"intValue": "2"},
                                    },
                                ],
                            }
                        ]
                    }
                ],
            }
        ]
    }

    running.client.post(
        "/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}
    )
    running.client.post(
        "/v1/logs", content=json.dumps(beat), headers={"content-type": "application/json"}
    )
    agents: list[dict[str, object]] = []
    for _ in range(100):
        agents = running.client.get("/api/v1/agents").json()["items"]
        if len(agents) == 2:
            break
        threading.Event().wait(0.05)

    found = {one["agent"]: (one["liveness"], one["open_spans"]) for one in agents}
    assert found == {"fixer": ("unknown", None), "beating": ("alive", 2)}
