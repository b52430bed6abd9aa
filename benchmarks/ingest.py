"""What a span costs the fleet service, beside what it costs to unpack it at all.

    python benchmarks/ingest.py [--recordings <folder>] [--requests 300] [--rotel <file>]
                                [--workers 1] [--clients 1] [--anew]

Bodies of about a hundred spans are made of recordings, under fresh ids, and compressed.
`bare` unpacks them in this process: gunzip, protobuf, nine attributes. `service` is another process
that does everything: HTTP, journal on disk, dialects, all detectors, answers. `rotel`, a collector
in Rust (PyPI: `rotel`, its file `rotel-agent`), takes them in and passes them on by OTLP, and reads
nothing of them. Compared is CPU time a span; the ratio holds on any machine, the figures on this.
"""

import argparse
import gzip
import http.client
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from isal import isal_zlib
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from rotel_agent import running

RECORDINGS = Path(__file__).parent.parent / "tests" / "recordings"
SPANS_PER_BODY = 100
WANTED = frozenset(
    {
        "gen_ai.operation.name",
        "gen_ai.tool.name",
        "gen_ai.tool.call.id",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "gen_ai.agent.name",
        "gen_ai.conversation.id",
        "gen_ai.output.messages",
        "gen_ai.input.messages",
    }
)
CONVERSATIONS = frozenset({"gen_ai.conversation.id", "session.id", "langfuse.session.id"})
TICKS = os.sysconf("SC_CLK_TCK")
SECONDS_TO_START = 20


def fill_value(target, value):
    """Copy an OTLP/JSON value into a protobuf one."""
    kind, inner = next(iter(value.items()), ("", None))
    if kind == "stringValue":
        target.string_value = inner
    elif kind == "intValue":
        target.int_value = int(inner)
    elif kind == "doubleValue":
        target.double_value = float(inner)
    elif kind == "boolValue":
        target.bool_value = inner
    elif kind == "arrayValue":
        for item in inner.get("values", ()):
            fill_value(target.array_value.values.add(), item)


def fill_pairs(target, pairs):
    """Copy OTLP/JSON attributes into protobuf ones."""
    for pair in pairs or ():
        made = target.add()
        made.key = pair["key"]
        fill_value(made.value, pair.get("value") or {})


def groups_of(folder):
    """Return the resource and scope groups of all recordings."""
    groups = []
    for path in sorted(Path(folder).glob("*.json*")):
        if ".expect." in path.name or ".logs." in path.name:
            continue
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            groups.extend(json.load(file).get("resourceSpans", ()))
    return groups


def bodies_of(groups, count, seed=7, *, anew=False):
    """Return so many bodies, each of whole recordings under ids that no other has.

    Args:
        groups: Of recordings.
        count: How many.
        seed: Of the ids.
        anew: Whether conversations have ids that no other has, too; else they go on and on.
    """
    random_ids = random.Random(seed)  # noqa: S311 - ids, not secrets
    endless = itertools.cycle(groups)
    bodies = []
    for _ in range(count):
        request = ExportTraceServiceRequest()
        spans = 0
        while spans < SPANS_PER_BODY:
            spans += add(request, next(endless), random_ids, anew)
        bodies.append((gzip.compress(request.SerializeToString(), 6), spans))
    return bodies


def add(request, resource, random_ids, anew):
    """Add one recording's group; return its number of spans."""
    trace_mask, span_mask = random_ids.getrandbits(128), random_ids.getrandbits(64)
    made = request.resource_spans.add()
    fill_pairs(made.resource.attributes, (resource.get("resource") or {}).get("attributes"))
    count = 0
    for part in resource.get("scopeSpans", ()):
        group = made.scope_spans.add()
        group.scope.name = (part.get("scope") or {}).get("name", "")
        for given in part.get("spans", ()):
            span = group.spans.add()
            span.trace_id = (int(given["traceId"], 16) ^ trace_mask).to_bytes(16)
            span.span_id = (int(given["spanId"], 16) ^ span_mask).to_bytes(8)
            if given.get("parentSpanId"):
                span.parent_span_id = (int(given["parentSpanId"], 16) ^ span_mask).to_bytes(8)
            span.name = given.get("name", "")
            span.start_time_unix_nano = int(given["startTimeUnixNano"])
            span.end_time_unix_nano = int(given.get("endTimeUnixNano") or 0)
            fill_pairs(span.attributes, given.get("attributes"))
            for pair in span.attributes:
                if anew and pair.key in CONVERSATIONS:
                    pair.value.string_value += f"-{trace_mask:x}"
            code = (given.get("status") or {}).get("code", 0)
            span.status.code = int(code) if str(code).isdigit() else 0
            count += 1
    return count


def keep(pairs):
    """Return the attributes that are wanted."""
    return {pair.key: pair.value.string_value for pair in pairs if pair.key in WANTED}


def bare(bodies):
    """Unpack bodies as cheaply as it can be done; return CPU seconds."""
    began = time.process_time()
    for body, _ in bodies:
        raw = isal_zlib.decompressobj(31).decompress(body, 1 << 26)
        request = ExportTraceServiceRequest.FromString(raw)
        for resource in request.resource_spans:
            for part in resource.scope_spans:
                for span in part.spans:
                    keep(span.attributes)
    return time.process_time() - began


def cpu_seconds(pid):
    """Return the CPU time that a process has used, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid):
    """Return the memory that a process has in use, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def children(pid):
    """Return the ids of the processes that a process has started."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text("utf-8").split()]


def start(folder, workers=1, mode="observe", *, grpc=False):
    """Start a service, with gRPC or without; return it and its port for HTTP."""
    service = subprocess.Popen(  # noqa: S603 - our own command
        [
            *(sys.executable, "-m", "otel_watchdog_collector", "serve"),
            *("--http-port", "0", "--grpc-port", "0" if grpc else "-1", "--mode", mode),
            *("--store", f"sqlite:{folder}/watchdog.db"),
        ],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OTEL_WATCHDOG_COLLECTOR_WORKERS": str(workers)},
    )
    for line in service.stderr:
        found = re.search(r"watching on http://[^:]+:(\d+)", line)
        if found:
            return service, int(found[1])
    raise SystemExit("the service did not start")


def passed_on(agent, warm, bodies):
    """Return the CPU seconds that rotel needs to take bodies in and pass them on."""
    with running(agent) as (pid, port):
        post(port, warm)
        before = cpu_seconds(pid)
        post(port, bodies)
        threading.Event().wait(1)  # it sends on what it has gathered
        return cpu_seconds(pid) - before


def post(port, bodies):
    """Send all bodies over one connection; return seconds of wall clock, and the slowest."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
    times = []
    began = time.perf_counter()
    for body, _ in bodies:
        sent = time.perf_counter()
        connection.request("POST", "/v1/traces", body, headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise SystemExit(f"HTTP {answer.status}")
        times.append(time.perf_counter() - sent)
    return time.perf_counter() - began, sorted(times)


def post_by(clients, port, bodies):
    """Send all bodies over so many connections at once; return as `post` does."""
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        parts = [bodies[number::clients] for number in range(clients)]
        found = list(pool.map(lambda part: post(port, part), parts))
    return time.perf_counter() - began, sorted(one for _, times in found for one in times)


def main():
    """Run both and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--recordings",
        default=RECORDINGS,
        help="folder of OTLP/JSON recordings; default: those of the tests",
    )
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--workers", type=int, default=1, help="processes that judge")
    parser.add_argument("--anew", action="store_true", help="a conversation to each recording")
    parser.add_argument("--clients", type=int, default=1, help="connections that send at once")
    parser.add_argument("--rotel", help="file of the agent to compare with")
    given = parser.parse_args()
    bodies = bodies_of(groups_of(given.recordings), given.requests, anew=given.anew)
    warm, bodies = bodies[:20], bodies[20:]
    with tempfile.TemporaryDirectory() as folder:
        service, port = start(folder, given.workers)
        try:
            post(port, warm)
            pids = [service.pid, *children(service.pid)]
            empty = [resident_mib(pid) for pid in pids]
            bare_before = bare(bodies)
            before = [cpu_seconds(pid) for pid in pids]
            wall, times = post_by(given.clients, port, bodies)
            each = [cpu_seconds(pid) - was for pid, was in zip(pids, before, strict=True)]
            used = sum(each)
            bare_after = bare(bodies)
            full = [resident_mib(pid) for pid in pids]
        finally:
            service.terminate()
            service.wait(SECONDS_TO_START)
    cheap = (bare_before + bare_after) / 2
    report(bodies, cheap, used, wall, times)
    if len(each) > 1:
        say(f"CPU      {each[0]:.1f} s in front, {', '.join(f'{one:.1f}' for one in each[1:])} s")
    if given.rotel:
        used = passed_on(given.rotel, warm, bodies)
        spans = sum(count for _, count in bodies)
        say(f"rotel    {used / spans * 1e6:6.1f} µs a span, x{used / cheap:.2f} of bare")
    for was, now in zip(empty, full, strict=True):
        say(f"memory   {was:.0f} MiB after the first bodies, {now:.0f} MiB at the end")


def report(bodies, cheap, used, wall, times):
    """Print what was measured.

    Args:
        bodies: What was sent.
        cheap: CPU seconds to unpack them.
        used: CPU seconds of the service.
        wall: Seconds that sending took.
        times: Seconds of each request, in order of size.
    """
    spans = sum(count for _, count in bodies)
    size = sum(len(body) for body, _ in bodies) / spans
    say(f"{len(bodies)} bodies, {spans} spans, {size:.0f} B a span")
    say(f"bare     {cheap / spans * 1e6:6.1f} µs a span")
    say(f"service  {used / spans * 1e6:6.1f} µs a span, x{used / cheap:.2f} of bare")
    say(f"         {spans / used:.0f} spans a second and core")
    for share in (50, 95, 99):
        say(f"request  p{share} {times[len(times) * share // 100] * 1e3:.1f} ms")
    say(f"         {spans / wall:.0f} spans a second")


def say(line):
    """Print a line."""
    print(line)  # noqa: T201 - what a benchmark is for


if __name__ == "__main__":
    main()
