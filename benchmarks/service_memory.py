"""What memory the fleet service takes: at rest, for a session, and for an agent that waits.

    python benchmarks/service_memory.py [--sessions 3000] [--waiting 2000]

Another process takes in sessions of fifty agents, eight turns each of a model call and a tool call,
and then opens event streams. Compared is its resident memory before and after. The bar is 80 MB at
rest, 20 KB a session and 20 KB a waiting agent. A snapshot, made each minute, takes memory for a
moment: `OTEL_WATCHDOG_COLLECTOR_SNAPSHOT_SECONDS=86400` shows the sessions alone.
"""

import argparse
import gzip
import socket
import tempfile
import threading

from ingest import SECONDS_TO_START, post, resident_mib, say, start
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

AGENTS = 50
TURNS = 8
WARM_SESSIONS = 200
SECOND = 1_000_000_000
BEGAN = 1_790_000_000


def body_of(number):
    """Return a request with one session, under ids of its own; and its number of spans."""
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
            pair(span.attributes, "gen_ai.agent.name", f"agent-{number % AGENTS}")
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


def main():
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=3000)
    parser.add_argument("--waiting", type=int, default=2000)
    given = parser.parse_args()
    warm = [body_of(number) for number in range(WARM_SESSIONS)]
    bodies = [body_of(WARM_SESSIONS + number) for number in range(given.sessions)]
    with tempfile.TemporaryDirectory() as folder:
        service, port = start(folder)
        try:
            threading.Event().wait(1)  # it has started, and settles
            say(f"at rest  {resident_mib(service.pid):.0f} MiB")
            post(port, warm)
            before = resident_mib(service.pid)
            post(port, bodies)
            threading.Event().wait(2)  # until its rows are written
            full = resident_mib(service.pid)
            say(f"session  {(full - before) * 1024 / given.sessions:.1f} KiB each")
            opened = streams(port, given.waiting)
            waited = resident_mib(service.pid)
            say(f"waiting  {(waited - full) * 1024 / given.waiting:.1f} KiB each")
            for stream in opened:
                stream.close()
        finally:
            service.terminate()
            service.wait(SECONDS_TO_START)


if __name__ == "__main__":
    main()
