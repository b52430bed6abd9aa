"""Real servers on loopback, on fixed ports, each in an environment of its own.

`make test-backends` makes the environments; a test whose environment is missing says so.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_watchdog import Profile, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import drift_check, reraise

collect_ignore = ["fleet_openai_agents.py", "seed_metrics.py", "serve_phoenix.py"]
"""Programs that run in environments of their own."""

ROOT = Path(__file__).parents[3]
ENVIRONMENTS = Path(os.environ.get("OTEL_WATCHDOG_BACKENDS", ROOT / ".venv-backends"))
PROJECT = "watchdog"
SECONDS_TO_START = 120
JUDGED_TURN = 9


def binary(environment, name="python"):
    """Return a program of an environment; skip where there is none."""
    found = ENVIRONMENTS / environment / "bin" / name
    if not found.exists():
        pytest.skip(f"no environment with {environment}: `make test-backends` makes it")
    return str(found)


def system(name):
    """Return a program of the system, or one of Debian's that was unpacked; else skip."""
    found = shutil.which(name) or shutil.which(name, path=ENVIRONMENTS / "debian" / "usr" / "bin")
    if found is None:
        pytest.skip(f"{name} is not installed: `make test-backends` does it on Debian")
    return found


def ask(url, body=None, method=None):
    """Return what a server answers, read as JSON where it is."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read().decode()
    return json.loads(text) if text[:1] in "{[" else text


def eventually(look, seconds=30):
    """Return what `look` finds, looking again and again."""
    pause = threading.Event()
    for _ in range(int(seconds * 5)):
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            if found := look():
                return found
        pause.wait(0.2)
    raise AssertionError("it did not come to that")


@contextlib.contextmanager
def served(command, ready, folder, **variables):
    """Run a server, wait until it answers at `ready`, and end it by its own process group."""
    log = folder / "server.log"
    usual = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder)}
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=usual | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            eventually(
                lambda: server.poll() is not None or ask(ready) is not None, SECONDS_TO_START
            )
            assert server.poll() is None, log.read_text("utf-8")[-4000:]
            yield server
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait(15)


@contextlib.contextmanager
def phoenix_served(folder, port, grpc_port):
    """Run Phoenix on loopback alone, without its assistant and without telemetry; yield its URL."""
    url = f"http://127.0.0.1:{port}"
    with served(
        [binary("phoenix"), str(Path(__file__).parent / "serve_phoenix.py")],
        f"{url}/healthz",
        folder,
        PHOENIX_HOST="127.0.0.1",
        PHOENIX_PORT=str(port),
        PHOENIX_GRPC_PORT=str(grpc_port),
        PHOENIX_WORKING_DIR=str(folder),
        PHOENIX_DISABLE_AGENT_ASSISTANT="true",
        PHOENIX_ENABLE_MCP_SERVER="false",
        PHOENIX_TELEMETRY_ENABLED="false",
        PHOENIX_ALLOW_EXTERNAL_RESOURCES="false",
    ):
        yield url


def listening(port):
    """Return the addresses at which something listens on a port."""
    rows = [
        line.split()
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for line in Path(table).read_text("ascii").splitlines()[1:]
    ]
    open_ = [row[1].split(":") for row in rows if row[3] == "0A"]
    return {address for address, number in open_ if int(number, 16) == port}


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""127.0.0.1, the same within IPv6, and ::1, as the kernel writes them."""


def run_agent(endpoint, headers=None):
    """Trace an agent that loops, is nudged, and heeds; return the names of the corrections.

    A judge is asked about it, too.
    """
    resource = Resource({"service.name": "demo", "openinference.project.name": PROJECT})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    config = WatchdogConfig(profile=Profile.CLASSIC, refractory_seconds=0, refractory_turns=0)
    watchdog = WatchdogSpanProcessor(config=config, on_error=reraise)
    provider.add_span_processor(watchdog)
    exporter = OTLPSpanExporter(endpoint=endpoint, headers=headers)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("pydantic-ai")
    who = {"gen_ai.agent.name": "fixer", "gen_ai.conversation.id": "talk", "session.id": "talk"}

    def call(name, arguments, result):
        at = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "demo-model", **who}
        with tracer.start_as_current_span("chat demo-model", attributes=at):
            pass
        at = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.arguments": arguments,
            "gen_ai.tool.call.result": result,
            **who,
        }
        with tracer.start_as_current_span(f"execute_tool {name}", attributes=at):
            pass

    run = {"gen_ai.operation.name": "invoke_agent", "openinference.span.kind": "AGENT", **who}
    given = []
    with tracer.start_as_current_span("invoke_agent fixer", attributes=run):
        for turn in range(12):
            session = watchdog.find_session("talk", "fixer")
            for correction in watchdog.mailbox.lease(session) if session else ():
                watchdog.mailbox.acknowledge([correction])
                given.append(correction.span_name)
            if turn == JUDGED_TURN:
                check = replace(
                    drift_check(verdict="progressing"), started_at=datetime.now(UTC).timestamp() - 2
                )
                around = trace.set_span_in_context(trace.get_current_span())
                Telemetry(provider, version="test").check(check, around, who)
            if given:
                call("grep", json.dumps({"pattern": f"error {turn}"}), f"line {turn}")
            else:
                call("list_files", json.dumps({"path": "src"}), "a.py b.py")
    provider.shutdown()
    return given
