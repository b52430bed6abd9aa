"""What the OTLP specification asks of a receiver over gRPC, with the stock exporter and a stub."""

import grpc
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def written_spans():
    """Return spans as the SDK hands them to an exporter."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    provider.get_tracer("t").start_span("chat").end()
    return memory.get_finished_spans()


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip])
def test_the_stock_exporter_is_served(serve, compression):
    """Spans of the SDK arrive, compressed or not."""
    running = serve(grpc_port=0)
    exporter = OTLPSpanExporter(
        f"127.0.0.1:{running.service.grpc_port}", insecure=True, compression=compression
    )

    result = exporter.export(written_spans())

    exporter.shutdown()
    assert result is SpanExportResult.SUCCESS
    assert running.service.meters["received_spans_total"] == 1


def test_a_loop_leads_to_a_correction(serve, agent_spans):
    """The second door leads to the same place; partial success is told there, too."""
    running = serve(grpc_port=0)
    made = agent_spans.request()
    made.resource_spans[0].scope_spans[0].spans.add().name = "no ids"

    with grpc.insecure_channel(f"127.0.0.1:{running.service.grpc_port}") as channel:
        answer = TraceServiceStub(channel).Export(made)

    assert answer.partial_success.rejected_spans == 1
    assert running.service.meters["corrections_total"] == 1


def test_when_full_the_client_is_asked_to_come_back(serve, agent_spans):
    """UNAVAILABLE with `RetryInfo`, which all exporters understand as: again, later."""
    running = serve(grpc_port=0)
    running.service._door._in_work = 1 << 40

    address = f"127.0.0.1:{running.service.grpc_port}"
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
        TraceServiceStub(channel).Export(agent_spans.request())

    details = dict(caught.value.trailing_metadata())["grpc-status-details-bin"]
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    assert Status.FromString(details).details[0].type_url.endswith("google.rpc.RetryInfo")


def test_a_message_that_is_too_large_is_not_to_be_sent_again(serve, agent_spans):
    """RESOURCE_EXHAUSTED without `RetryInfo`."""
    running = serve(grpc_port=0, max_decompressed_bytes=1024)

    address = f"127.0.0.1:{running.service.grpc_port}"
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
        TraceServiceStub(channel).Export(agent_spans.request())

    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_damage_is_an_invalid_argument(serve):
    """One clear line, and no retry."""
    running = serve(grpc_port=0)
    method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

    address = f"127.0.0.1:{running.service.grpc_port}"
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(method)(b"\xff\xff")

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "not an OTLP trace request" in caught.value.details()


def test_a_token_is_asked_for(serve, agent_spans):
    """Metadata carries what the header does over HTTP."""
    token = {"name": "ci", "token": "0123456789abcdef", "role": "ingest"}
    running = serve(grpc_port=0, tokens=[token])

    with grpc.insecure_channel(f"127.0.0.1:{running.service.grpc_port}") as channel:
        stub = TraceServiceStub(channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.Export(agent_spans.request())
        stub.Export(agent_spans.request(), metadata=[("authorization", "Bearer 0123456789abcdef")])

    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert running.service.meters["received_spans_total"] == 16
