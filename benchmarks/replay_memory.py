"""Peak memory of `replay` on recordings of 200 MB, one in each form; generates its own files.

Prints one line a form and fails where the peak passes the limit. Each form runs in a process of
its own, so that peaks do not mix.
"""

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from otel_watchdog import replay

LIMIT_MB = 400
FILE_MB = int(os.environ.get("REPLAY_MEMORY_MB", "200"))
TURNS_PER_RUN = 200
SPAN_KB = 8


def span(run, number, kind):
    """Return one OTLP/JSON span: runs end after their turns, as exporters send them."""
    start = run * 10_000 + number * 10
    attributes = {"gen_ai.conversation.id": f"conversation-{run}", "gen_ai.agent.name": "worker"}
    if kind == "run":
        start, end = run * 10_000, (run + 1) * 10_000 - 1
        attributes["gen_ai.operation.name"] = "invoke_agent"
    elif kind == "model":
        end = start + 4
        answer = [{"role": "assistant", "parts": [{"type": "text", "content": f"turn {number}"}]}]
        attributes["gen_ai.operation.name"] = "chat"
        attributes["gen_ai.output.messages"] = json.dumps(answer)
        attributes["gen_ai.input.messages"] = json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "x" * 1000 * SPAN_KB}]}]
        )
    else:
        start, end = start + 5, start + 9
        attributes["gen_ai.operation.name"] = "execute_tool"
        attributes["gen_ai.tool.name"] = "read_file"
        attributes["gen_ai.tool.call.id"] = f"call-{run}-{number}"
        attributes["gen_ai.tool.call.arguments"] = json.dumps({"path": f"file-{number % 7}.txt"})
        attributes["gen_ai.tool.call.result"] = f"{number} " + "y" * 1000 * SPAN_KB
    return {
        "traceId": f"{run + 1:032x}",
        "spanId": f"{(run + 1) * 100_000 + number * 2 + (kind == 'tool'):016x}",
        "parentSpanId": "" if kind == "run" else f"{(run + 1) * 100_000:016x}",
        "name": kind,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start * 1_000_000),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + end * 1_000_000),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
    }


def spans():
    """Yield spans without end."""
    run = 0
    while True:
        for number in range(1, TURNS_PER_RUN + 1):
            yield span(run, number, "model")
            yield span(run, number, "tool")
        yield span(run, 0, "run")
        run += 1


def parts():
    """Yield spans as JSON, as many as the file takes."""
    size = 0
    for one in spans():
        text = json.dumps(one)
        size += len(text)
        yield text
        if size > FILE_MB * 1_000_000:
            return


def write_request(file):
    """One OTLP/JSON request, all in it."""
    file.write(b'{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"bench"},"spans":[')
    for number, part in enumerate(parts()):
        file.write((b"," if number else b"") + part.encode())
    file.write(b"]}]}]}")


def write_request_lines(file):
    """One OTLP/JSON request a line."""
    for part in parts():
        file.write(b'{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"bench"},"spans":[')
        file.write(part.encode() + b"]}]}]}\n")


def write_protobuf(file):
    """One OTLP protobuf request after the other, which is one."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # noqa: PLC0415
        ExportTraceServiceRequest,
    )

    for part in parts():
        one = json.loads(part)
        request = ExportTraceServiceRequest()
        scope = request.resource_spans.add().scope_spans.add()
        scope.scope.name = "bench"
        made = scope.spans.add(
            name=one["name"],
            trace_id=bytes.fromhex(one["traceId"]),
            span_id=bytes.fromhex(one["spanId"]),
            parent_span_id=bytes.fromhex(one["parentSpanId"]),
            start_time_unix_nano=int(one["startTimeUnixNano"]),
            end_time_unix_nano=int(one["endTimeUnixNano"]),
        )
        for pair in one["attributes"]:
            made.attributes.add(key=pair["key"]).value.string_value = pair["value"]["stringValue"]
        file.write(request.SerializeToString())


def write_observation_lines(file):
    """One run of observations a line."""
    size = run = 0
    while size < FILE_MB * 1_000_000:
        events = []
        for turn in range(1, TURNS_PER_RUN + 1):
            call = {"turn": turn, "name": "read_file", "call_id": f"c{turn}"}
            events.append({**call, "kind": "tool_call", "args": {"path": f"file-{turn % 7}"}})
            events.append({**call, "kind": "tool_result", "result": "y" * 1000 * SPAN_KB})
        line = json.dumps({"id": f"run-{run}", "events": events}).encode() + b"\n"
        size += file.write(line)
        run += 1


FORMS = {
    "OTLP/JSON, one request": write_request,
    "OTLP/JSON, one request a line": write_request_lines,
    "OTLP protobuf": write_protobuf,
    "observation lines": write_observation_lines,
}


def measure(path, answers):
    """Replay a file; answer with seconds, runs, sessions, findings and peak memory in MB."""
    start = time.perf_counter()
    runs = sessions = findings = 0
    for run in replay.read(path, keep_observations=False):
        runs += 1
        sessions += len(run.sessions)
        findings += len(run.findings)
    seconds = time.perf_counter() - start
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    answers.put((seconds, runs, sessions, findings, peak))


def main():
    """Measure each form."""
    context = multiprocessing.get_context("spawn")
    worst = 0.0
    for form, write in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "recording"
            with path.open("wb") as file:
                write(file)
            answers = context.SimpleQueue()
            process = context.Process(target=measure, args=(path, answers))
            process.start()
            process.join()
            seconds, runs, sessions, findings, peak = answers.get()
            size = path.stat().st_size / 1_000_000
        worst = max(worst, peak)
        print(  # noqa: T201 - what it is for
            f"{form:30} {size:5.0f} MB  {seconds:5.1f} s  {runs} runs, {sessions} sessions, "
            f"{findings} findings  peak {peak:4.0f} MB"
        )
    if worst > LIMIT_MB:
        sys.exit(f"the peak of {worst:.0f} MB is above the limit of {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
