"""Both doors over TLS, with a certificate made for the test and the stock exporters as clients."""

import shutil
import ssl
import subprocess
from pathlib import Path

import grpc
import httpx
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_watchdog.transport.feedback_api import FeedbackApi

SECONDS = 30


def made_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a key and a certificate for 127.0.0.1 that vouches for itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    done = subprocess.run(  # noqa: S603 - makes a file
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return certificate, key


@pytest.fixture(scope="module")
def pem(tmp_path_factory):
    """Return the files of a certificate and its key."""
    return made_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secured(serve, pem):
    """Run a service whose doors both speak TLS."""
    certificate, key = pem
    return serve(tls_certificate=certificate, tls_key=key, grpc_port=0)


def written_spans():
    """Return spans as the SDK hands them to an exporter."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    provider.get_tracer("t").start_span("chat").end()
    return memory.get_finished_spans()


def test_the_stock_http_exporter_is_served(secured, pem, monkeypatch):
    """It is given the certificate, and nothing else."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # win over what a client is given
        monkeypatch.delenv(name, raising=False)
    exporter = HttpExporter(
        f"https://127.0.0.1:{secured.service.http_port}/v1/traces", certificate_file=str(pem[0])
    )

    result = exporter.export(written_spans())

    exporter.shutdown()
    assert result is SpanExportResult.SUCCESS
    assert secured.service.meters["received_spans_total"] == 1


def test_the_stock_grpc_exporter_is_served(secured, pem):
    """The second door has the same certificate."""
    exporter = GrpcExporter(
        f"https://127.0.0.1:{secured.service.grpc_port}",
        credentials=grpc.ssl_channel_credentials(pem[0].read_bytes()),
    )

    result = exporter.export(written_spans())

    exporter.shutdown()
    assert result is SpanExportResult.SUCCESS
    assert secured.service.meters["received_spans_total"] == 1


def test_who_does_not_know_the_certificate_does_not_speak_to_it(secured):
    """Nor does who speaks plainly: nothing of a request gets in."""
    port = secured.service.http_port

    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.post(f"https://127.0.0.1:{port}/v1/traces", content=b"")
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.post(f"http://127.0.0.1:{port}/v1/traces", content=b"")

    assert secured.service.meters["bad_requests_total"] == 0


def test_an_agent_takes_its_corrections_over_it(secured, pem, agent_spans, monkeypatch):
    """By the library's own client, which trusts whom the process trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(pem[0]))
    url = f"https://127.0.0.1:{secured.service.http_port}"
    trusting = ssl.create_default_context(cafile=str(pem[0]))
    httpx.post(
        f"{url}/v1/traces",
        content=agent_spans.request().SerializeToString(),
        headers={"content-type": "application/x-protobuf"},
        verify=trusting,
    ).raise_for_status()

    taken = FeedbackApi(url, token=None, setting="url").take("conv")

    assert [one.tier.label for one in taken] == ["nudge"]
