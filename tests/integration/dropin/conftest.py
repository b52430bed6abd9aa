"""Runs a program in an environment with one vendor's package, beside a receiver of its exports.

The environments are made by `make test-dropin`; a test whose environment is missing says so.
"""

import gzip
import json
import os
import subprocess
import textwrap
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

ROOT = Path(__file__).parents[3]
ENVIRONMENTS = Path(os.environ.get("OTEL_WATCHDOG_DROPIN", ROOT / ".venv-dropin"))
SECONDS = 50

AGENT = '''
import json
import sys

from opentelemetry import trace


def agent(tracer=None, turns=8, conversation="c1"):
    """Call one tool again and again, as an instrumented agent would be traced."""
    tracer = tracer or trace.get_tracer("some.instrumentation")
    who = {"gen_ai.agent.name": "fixer", "gen_ai.conversation.id": conversation}
    with tracer.start_as_current_span(
        "invoke_agent fixer", attributes={"gen_ai.operation.name": "invoke_agent", **who}
    ):
        for n in range(turns):
            with tracer.start_as_current_span(
                "chat m", attributes={"gen_ai.operation.name": "chat", **who}
            ):
                pass
            with tracer.start_as_current_span(
                "execute_tool ls",
                attributes={
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "ls",
                    "gen_ai.tool.call.id": f"call-{conversation}-{n}",
                    "gen_ai.tool.call.arguments": "{}",
                    "gen_ai.tool.call.result": "a b c",
                    **who,
                },
            ):
                pass


def tell(watchdog, **more):
    """Print what the mailbox holds, for the test."""
    waiting = watchdog.mailbox.lease("c1") if watchdog else ()
    trace.get_tracer_provider()
    print(json.dumps({"waiting": [c.message for c in waiting], **more}))
'''
"""Goes before every program."""


class Receiver:
    """Takes OTLP, on any path."""

    def __init__(self):
        self.spans: list[Any] = []
        self.paths: set[str] = set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                receiver.paths.add(self.path)
                body = b'{"project_name": "p", "project_url": "http://localhost/p"}'
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                receiver.paths.add(self.path)
                if self.path.endswith("/traces"):
                    receiver.take(body)
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def take(self, body):
        request = ExportTraceServiceRequest.FromString(body)
        self.spans += [
            span
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
            if "pending_span" not in str(span.attributes)  # Logfire tells of a span twice
        ]

    @property
    def names(self):
        """Names of the spans that came."""
        return [span.name for span in self.spans]

    @property
    def corrections(self):
        """The correction spans that came; what became of them are spans of their own."""
        return [
            span
            for span in self.spans
            if span.name.startswith("watchdog-")
            and not span.name.startswith(("watchdog-outcome-", "watchdog-feedback-"))
        ]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver():
    """Return a receiver of OTLP."""
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def run(tmp_path, receiver):
    """Return what runs a program in a vendor's environment; it prints JSON in its last line."""

    def start(vendor, program, *, launcher=False, told=True, **variables):
        python = ENVIRONMENTS / vendor / "bin" / "python"
        if not python.exists():
            pytest.skip(f"no environment with {vendor}: `make test-dropin` makes it")
        file = tmp_path / "app.py"
        file.write_text(AGENT + textwrap.dedent(program), "utf-8")
        command = [str(python), str(file)]
        if launcher:
            command.insert(0, str(python.with_name("opentelemetry-instrument")))
        done = subprocess.run(  # noqa: S603 - our own programs
            command,
            cwd=tmp_path,
            env={
                "PATH": os.environ.get("PATH", ""),
                "HOME": str(tmp_path),
                "RECEIVER": receiver.url,
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        last = done.stdout.strip().splitlines()[-1] if told else "{}"
        return json.loads(last) | {"stderr": done.stderr, "stdout": done.stdout}

    return start
