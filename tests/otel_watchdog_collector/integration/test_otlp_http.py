"""What the OTLP specification asks of a receiver over HTTP, with stock exporters and raw requests."""

import gzip
import zlib

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
GZIP = {"content-encoding": "gzip"}


def written_spans():
    """Return spans as the SDK hands them to an exporter."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with provider.get_tracer("t").start_as_current_span("chat", attributes={"n": 1}):
        pass
    return memory.get_finished_spans()


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_the_stock_exporter_is_served(serve, compression):
    """Spans of the SDK arrive, compressed or not."""
    running = serve()
    exporter = OTLPSpanExporter(f"{running.url}/v1/traces", compression=compression)

    result = exporter.export(written_spans())

    exporter.shutdown()
    assert result is SpanExportResult.SUCCESS
    assert running.service.meters["received_spans_total"] == 1


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("kind", ["protobuf", "json"])
def test_both_encodings_mean_the_same(serve, agent_spans, kind, gzipped):
    """A loop leads to a correction, however its spans were written; the answer is in kind."""
    running = serve()
    made = agent_spans.request()
    body = made.SerializeToString() if kind == "protobuf" else agent_spans.as_json(made)
    headers = dict(PROTOBUF if kind == "protobuf" else JSON)
    if gzipped:
        body, headers = gzip.compress(body), {**headers, **GZIP}

    answer = running.client.post("/v1/traces", content=body, headers=headers)

    assert (answer.status_code, answer.content) == (200, b"" if kind == "protobuf" else b"{}")
    assert answer.headers["content-type"] == headers["content-type"]
    assert running.service.meters["corrections_total"] == 1


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs"])
def test_an_empty_request_succeeds(serve, path):
    """As the specification says."""
    running = serve()

    answers = [
        running.client.post(path, content=b"", headers=PROTOBUF),
        running.client.post(path, content=b"{}", headers=JSON),
    ]

    assert [(a.status_code, a.content) for a in answers] == [(200, b""), (200, b"{}")]


def test_the_good_part_of_a_batch_is_kept(serve, agent_spans):
    """Spans without ids are rejected by number; their neighbours are judged."""
    running = serve()
    made = agent_spans.request()
    spans = made.resource_spans[0].scope_spans[0].spans
    spans.add().name = "no ids"
    short = spans.add()
    short.trace_id, short.span_id = b"\x01" * 15, b"\x01" * 8

    answer = running.client.post("/v1/traces", content=made.SerializeToString(), headers=PROTOBUF)
    in_json = running.client.post("/v1/traces", content=agent_spans.as_json(made), headers=JSON)

    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (partial.rejected_spans, partial.error_message) == (
        2,
        "a span without trace_id or span_id",
    )
    assert in_json.json()["partialSuccess"]["rejectedSpans"] == "2"
    assert running.service.meters["corrections_total"] == 1


def test_a_span_of_too_many_attributes_is_rejected_alone(serve, agent_spans):
    """And a text that is too long counts as not captured."""
    running = serve(max_attributes=20, max_attribute_chars=300)
    made = agent_spans.request()
    spans = made.resource_spans[0].scope_spans[0].spans
    wide = spans.add()
    wide.CopyFrom(spans[0])
    wide.span_id = b"\x07" * 8
    for number in range(30):
        agent_spans.pair(wide.attributes, f"a{number}", "x")
    agent_spans.pair(spans[0].attributes, "long", "x" * 400)

    answer = running.client.post("/v1/traces", content=made.SerializeToString(), headers=PROTOBUF)

    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert partial.rejected_spans == 1
    assert running.service.meters["received_spans_total"] == 16


BAD = [
    (b"\xff\xff\xff", PROTOBUF, 400, "not an OTLP trace request in protobuf"),
    (b"{", JSON, 400, "not JSON"),
    (b"[]", JSON, 400, "must be an object"),
    (b'{"resourceSpans": 3}', JSON, 400, "must be a list"),
    (b'{"resourceSpans": [3]}', JSON, 400, "must hold objects"),
    (b"[" * 5000, JSON, 400, "not JSON"),
    (b"this is not gzip at all, however long it is", {**PROTOBUF, **GZIP}, 400, "not gzip"),
    (gzip.compress(b"abc")[:-9], {**PROTOBUF, **GZIP}, 400, "cut"),
    (b"", {"content-type": "text/plain"}, 415, "content-type"),
    (b"", {**PROTOBUF, "content-encoding": "br"}, 415, "content-encoding"),
    (b"", {}, 415, "content-type"),
]


@pytest.mark.parametrize(("body", "headers", "status", "said"), BAD)
def test_what_is_no_request_is_refused_with_one_clear_line(serve, body, headers, status, said):
    """Undecodable is 400, another type 415; the body is a `google.rpc.Status`."""
    running = serve()

    answer = running.client.post("/v1/traces", content=body, headers=headers)

    if headers.get("content-type") == "application/json":
        message = answer.json()["message"]
    else:
        message = Status.FromString(answer.content).message
    assert answer.status_code == status
    assert said in message
    assert "\n" not in message
    assert running.service.meters["bad_requests_total"] == 1


def test_other_methods_and_paths_are_refused(serve):
    """GET is 405, an unknown signal 404."""
    running = serve()

    got = running.client.get("/v1/traces")
    metrics = running.client.post("/v1/metrics", content=b"", headers=PROTOBUF)

    assert (got.status_code, got.headers["allow"]) == (405, "POST")
    assert metrics.status_code == 404


def test_a_body_that_is_too_large_is_refused_before_it_is_read(serve):
    """413 by what the header says, and by what comes where it says nothing."""
    running = serve(max_body_bytes=2048)

    declared = running.client.post("/v1/traces", content=b"x" * 4096, headers=PROTOBUF)
    chunked = running.client.post(
        "/v1/traces", content=iter([b"x" * 1500, b"x" * 1500]), headers=PROTOBUF
    )

    assert [declared.status_code, chunked.status_code] == [413, 413]


@pytest.mark.parametrize("members", [1, 2])
def test_a_gzip_bomb_is_refused(serve, members):
    """Nothing above the limit is unpacked, in one member or in several."""
    running = serve(max_decompressed_bytes=1_000_000)
    bomb = gzip.compress(bytes(20_000_000 // members)) * members

    answer = running.client.post("/v1/traces", content=bomb, headers={**PROTOBUF, **GZIP})

    assert answer.status_code == 413


def test_deep_nesting_harms_nothing(serve):
    """Values within values within values: refused or left out, and the service goes on."""
    running = serve()
    value = b'{"arrayValue":{"values":[' * 300 + b'{"intValue":"1"}' + b"]}}" * 300
    body = (
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s",'
        b'"attributes":[{"key":"a","value":%s}]}]}]}]}' % (b"1" * 32, b"1" * 16, value)
    )
    request = ExportTraceServiceRequest()
    inner = request.resource_spans.add().resource.attributes.add().value
    for _ in range(40):
        inner = inner.array_value.values.add()

    in_json = running.client.post("/v1/traces", content=body, headers=JSON)
    in_protobuf = running.client.post(
        "/v1/traces", content=request.SerializeToString(), headers=PROTOBUF
    )

    assert in_json.status_code in {200, 400}
    assert in_protobuf.status_code in {200, 400}
    assert running.client.get("/healthz").status_code == 200


def test_when_full_the_client_is_asked_to_come_back(serve, agent_spans):
    """503 with `Retry-After` and `RetryInfo`; nothing was taken in."""
    running = serve(max_waiting_bytes=1024 * 1024, retry_after_seconds=2)
    running.service._door._in_work = 1024 * 1024

    answer = running.client.post(
        "/v1/traces", content=agent_spans.request().SerializeToString(), headers=PROTOBUF
    )

    status = Status.FromString(answer.content)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert (status.code, status.details[0].type_url) == (
        14,
        "type.googleapis.com/google.rpc.RetryInfo",
    )
    assert running.service.meters["received_spans_total"] == 0


def test_the_stock_exporter_comes_back_when_it_was_refused(serve):
    """What was refused for a moment arrives, once."""
    running = serve(max_waiting_bytes=1024 * 1024)
    running.service._door._in_work = 1024 * 1024
    exporter = OTLPSpanExporter(f"{running.url}/v1/traces")
    running.loop.call_soon_threadsafe(
        running.loop.call_later, 0.3, setattr, running.service._door, "_in_work", 0
    )

    result = exporter.export(written_spans())

    exporter.shutdown()
    assert result is SpanExportResult.SUCCESS
    assert running.service.meters["refused_requests_total"] >= 1
    assert running.service.meters["received_spans_total"] == 1


def test_a_client_over_its_rate_is_asked_to_come_back(serve, agent_spans):
    """429; a batch larger than the budget is let in once, so that it cannot be stuck for ever."""
    running = serve(max_spans_per_second=0.5)
    body = agent_spans.request().SerializeToString()

    first = running.client.post("/v1/traces", content=body, headers=PROTOBUF)
    second = running.client.post("/v1/traces", content=body, headers=PROTOBUF)

    assert [first.status_code, second.status_code] == [200, 429]
    assert second.headers["retry-after"] == "1"


def test_a_failing_store_refuses_and_nothing_is_judged(serve, agent_spans, monkeypatch):
    """What cannot be kept is not acknowledged; readiness says so, and all is well afterwards."""
    from otel_watchdog_collector.stores import StoreError  # noqa: PLC0415

    running = serve()
    store = running.service._store
    body = agent_spans.request().SerializeToString()

    def fail(*_: object) -> int:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(store, "commit", fail)
        refused = running.client.post("/v1/traces", content=body, headers=PROTOBUF)
        ready = running.client.get("/readyz")
    accepted = running.client.post("/v1/traces", content=body, headers=PROTOBUF)

    assert (refused.status_code, ready.status_code) == (503, 503)
    assert accepted.status_code == 200
    assert running.client.get("/readyz").status_code == 200
    assert running.service.meters["corrections_total"] == 1


def test_an_unforeseen_failure_of_the_store_is_answered_too(serve, agent_spans, monkeypatch):
    """No request is left without an answer, and the next one is taken in."""
    running = serve()
    body = agent_spans.request().SerializeToString()

    def fail(*_: object) -> int:
        raise TypeError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr(running.service._store, "commit", fail)
        refused = running.client.post("/v1/traces", content=body, headers=PROTOBUF)
    accepted = running.client.post("/v1/traces", content=body, headers=PROTOBUF)

    assert [refused.status_code, accepted.status_code] == [503, 200]
    assert running.service.meters["corrections_total"] == 1


def test_odd_heartbeats_are_taken_for_what_they_are(serve):
    """A number that no database holds, or a text in its place, is no number."""
    running = serve()
    beat = (
        b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"watchdog.heartbeat",'
        b'"attributes":[{"key":"watchdog.open_spans","value":{"intValue":"%s"}}]}]}]}]}'
    )

    for value in (b"9" * 40, b"-1", b"3"):
        answer = running.client.post("/v1/logs", content=beat % value, headers=JSON)
        assert answer.status_code == 200

    assert running.service.meters["internal_errors_total"] == 0
    assert running.client.get("/api/v1/agents").status_code == 200


def test_doubled_spans_are_judged_once(serve, agent_spans):
    """Exporters send again what was not answered in time."""
    running = serve()
    body = agent_spans.request(turns=[1, 2]).SerializeToString()

    for _ in range(4):
        running.client.post("/v1/traces", content=body, headers=PROTOBUF)

    assert running.service.meters["duplicate_spans_total"] == 12
    assert running.service.meters["corrections_total"] == 0


def test_logs_are_taken(serve):
    """A log request is answered in its own type."""
    running = serve()
    body = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"x"},3]}]}]}'

    bad = running.client.post("/v1/logs", content=body, headers=JSON)
    good = running.client.post("/v1/logs", content=body.replace(b",3", b""), headers=JSON)

    assert (bad.status_code, good.content) == (400, b"{}")
    assert ExportLogsServiceResponse.FromString(b"") is not None
    assert running.service.meters["received_log_records_total"] == 1


def test_a_raw_deflate_body_is_not_taken_for_gzip(serve):
    """Only what was announced is unpacked."""
    running = serve()

    answer = running.client.post(
        "/v1/traces", content=zlib.compress(b"abc"), headers={**PROTOBUF, **GZIP}
    )

    assert answer.status_code == 400
