"""What memory the fleet service takes: at rest, for a session, and for an agent that waits.

    python benchmarks/service_memory.py [--sessions 3000] [--agents 50] [--waiting 2000]
                                        [--without-grpc]

Another process, with its default settings but for the ports, is asked whether it is ready, as
probes do; takes in sessions of so many agents, eight turns each of a model call and a tool call;
and then opens event streams. Compared is its resident memory before and after. The bar is 80 MB at
rest, 20 KB a session and 20 KB a waiting agent. Last is how long it takes to stop. A snapshot,
made each minute, takes memory for a moment, which `peak` has:
`OTEL_WATCHDOG_COLLECTOR_SNAPSHOT_SECONDS=86400` shows the sessions alone.
"""

import argparse
import gzip
import re
import socket
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from ingest import post, resident_mib, say, start
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TURNS = 8
WARM_SESSIONS = 200
SECONDS_TO_STOP = 120
SECOND = 1_000_000_000
BEGAN = 1_790_000_000


def body_of(number, agents):
    """Return a request with one session, under ids of its own; and its number of spans.

    Args:
        number: Of the session.
        agents: How many there are.
    """
    request = ExportTraceServiceRequest()
    made = request.resource_spans.add()
    pair(made.resource.attributes, "service.name", "shop")
    scope = made.scope_spans.add()
    scope.scope.name = "opentelemetry.instrumentation.test_agent"
    for turn in range(1, TURNS + 1):
        for offset, (kind, name) in enumerate((("chat", "chat m"), ("execute_tool", "run_tool"))):
            span = scope.spans.add()
            span.trace_id = (number + 1).to_bytes(16)
            span.span_id = ((number + 1) * 1000 + turn * 10 + offset).to_bytes(8)
            span.parent_span_id = ((number + 1) * 1000).to_bytes(8)
            span.name = name
            span.start_time_unix_nano = (BEGAN + turn * 60 + offset) * SECOND
            span.end_time_unix_nano = span.start_time_unix_nano + SECOND - 1
            pair(span.attributes, "gen_ai.operation.name", kind)
            pair(span.attributes, "gen_ai.agent.name", f"agent-{number % agents}")
            pair(span.attributes, "gen_ai.conversation.id", f"conversation-{number}")
            if kind == "execute_tool":
                pair(span.attributes, "gen_ai.tool.name", "read_file")
                pair(span.attributes, "gen_ai.tool.call.arguments", f'{{"path": "{turn}.py"}}')
                pair(span.attributes, "gen_ai.tool.call.result", f"line {turn} of {number}")
    return gzip.compress(request.SerializeToString(), 6), len(scope.spans)


def pair(target, key, value):
    """Add a text attribute."""
    made = target.add()
    made.key = key
    made.value.string_value = value


def streams(port, count):
    """Open event streams; return their sockets."""
    opened = []
    for number in range(count):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(
            f"GET /v1/feedback/nobody-{number} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            "accept: text/event-stream\r\n\r\n".encode()
        )
        stream.recv(1024)
        opened.append(stream)
    return opened


def peak_mib(pid):
    """Return the most memory that a process had in use so far, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def main():
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=3000)
    parser.add_argument("--agents", type=int, default=50, help="that the sessions are of, in turn")
    parser.add_argument("--waiting", type=int, default=2000)
    parser.add_argument("--without-grpc", action="store_true", help="with that door closed")
    given = parser.parse_args()
    numbers = range(WARM_SESSIONS + given.sessions)
    bodies = [body_of(number, given.agents) for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        service, port = start(folder, grpc=not given.without_grpc)
        try:
            measure(service.pid, port, bodies, given)
        finally:
            began = time.perf_counter()
            service.terminate()
            service.wait(SECONDS_TO_STOP)
            say(f"stop     {time.perf_counter() - began:.1f} s")


def measure(pid, port, bodies, given):
    """Print what memory a service takes.

    Args:
        pid: Its process.
        port: For HTTP.
        bodies: Of its sessions.
        given: Arguments of the command.
    """
    door = "without gRPC" if given.without_grpc else "with gRPC"
    threading.Event().wait(1)  # it has started, and settles
    say(f"at rest  {resident_mib(pid):.1f} MiB {door}")
    urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz").close()
    say(f"probed   {resident_mib(pid):.1f} MiB")
    post(port, bodies[:WARM_SESSIONS])
    before = resident_mib(pid)
    post(port, bodies[WARM_SESSIONS:])
    threading.Event().wait(2)  # until its rows are written
    full = resident_mib(pid)
    each = (full - before) * 1024 / given.sessions
    say(f"session  {each:.1f} KiB each, {given.sessions} of {given.agents} agents")
    say(f"peak     {peak_mib(pid):.0f} MiB")
    opened = streams(port, given.waiting)
    waited = resident_mib(pid)
    if opened:
        say(f"waiting  {(waited - full) * 1024 / given.waiting:.1f} KiB each")
    for stream in opened:
        stream.close()


if __name__ == "__main__":
    main()
