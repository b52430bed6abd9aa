"""Each form of a recording gives the same run: pretty, in lines, protobuf, zipped, streamed, in windows."""

import gzip
import io
import json
import struct
from base64 import b64encode
from pathlib import Path

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_watchdog.recordings import Window, documents
from otel_watchdog.recordings.source import Source
from otel_watchdog.spans import LogRecord
from tests.otel_watchdog.recordings.recording_cases import (
    FILES,
    PROTOBUF,
    TRACE,
    in_lines,
    request,
    shapes,
    streamed,
    tool_span,
    varint,
    whole,
)

RECORDINGS = Path(__file__).parents[2] / "recordings"


def test_each_form_of_a_trace_gives_the_same_run():
    """Pretty, compact, a request a line, protobuf, with lengths or without, gzipped or not."""
    compact = json.dumps(json.loads(TRACE.read_text("utf-8"))).encode()
    protobuf = PROTOBUF.read_bytes()
    forms = {
        "pretty": json.dumps(json.loads(compact), indent=2).encode(),
        "lines": in_lines(json.loads(compact)),
        "protobuf": protobuf,
        "protobuf, length as varint": varint(len(protobuf)) + protobuf,
        "protobuf, length in four bytes": struct.pack(">I", len(protobuf)) + protobuf,
        "byte order mark": b"\xef\xbb\xbf" + compact,
        "blank lines": b"\n \n" + compact + b"\n\n",
    }
    forms |= {f"{name}, gzipped": gzip.compress(form) for name, form in forms.items()}

    expected = shapes(compact)

    assert {name for name, form in forms.items() if shapes(form) != expected} == set()
    assert expected[0]["id"] == "recording"
    assert [session["calls"] for session in expected[0]["sessions"]] == [8]


def test_a_recording_that_is_streamed_gives_the_same_spans():
    """What does not fit into memory is read part by part, with the same result."""
    compact = json.dumps(json.loads(TRACE.read_text("utf-8"))).encode()
    runs = (FILES / "052-supervisor-worker-handoff-loop.json").read_bytes()

    assert streamed(compact) == whole(compact)
    assert streamed(PROTOBUF.read_bytes()) == whole(PROTOBUF.read_bytes())
    assert streamed(in_lines(json.loads(compact))) == whole(compact)
    assert streamed(runs) == whole(runs)


def test_a_scope_may_stand_after_its_spans():
    """JSON objects have no order."""
    content = json.dumps(request(tool_span(), scope_first=False)).encode()

    assert [span.scope for span in streamed(content)] == ["s"]


@pytest.mark.parametrize("window", [{"max_bytes": 1000}, {"max_spans": 40}])
def test_windows_do_not_change_what_is_found(window):
    """Content waits in a temporary file, and the window passes over a recording."""
    trace = json.loads(TRACE.read_text("utf-8"))

    assert shapes(in_lines(trace), window=Window(**window)) == shapes(in_lines(trace))


def test_a_window_that_is_too_small_says_all_the_same_calls():
    """Where a run's own span comes too late, the run is cut in two; no call is lost."""
    trace = json.loads((FILES / "multi_pydantic_ai__parallel_agents.json").read_text("utf-8"))

    (run,) = shapes(in_lines(trace), window=Window(max_spans=4))

    assert sum(session["calls"] for session in run["sessions"]) == 12


def test_half_characters_do_not_end_a_recording():
    """Programs that cut texts leave lone surrogates; JSON allows them, UTF-8 does not."""
    text = (
        r'{"id": "r", "events": [{"kind": "user_text", "result": "\\ud83d \ud83d \ud83d\ude00"}]}'
    )

    (run,) = shapes(text.encode())

    assert run["observations"][1]["result"] == "\\ud83d \ufffd 😀"


@pytest.mark.parametrize("name", ["codex__native", "claude_code__native_content"])
def test_log_records_are_the_same_in_protobuf(name):
    """A coding agent's log records are read in either form, as one request and as a sequence."""
    text = gzip.decompress((RECORDINGS / f"{name}.logs.json.gz").read_bytes())
    packed = json_format.ParseDict(in_base64(json.loads(text)), ExportLogsServiceRequest())
    protobuf = packed.SerializeToString()

    expected = items(text)

    assert len(expected) > 10
    assert {type(item) for item in expected} == {LogRecord}
    assert items(protobuf) == expected
    assert items(varint(len(protobuf)) + protobuf) == expected


def in_base64(value):
    """Return OTLP/JSON with its ids as protobuf's own JSON has them."""
    if isinstance(value, list):
        return [in_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: b64encode(bytes.fromhex(item)).decode()
        if key in {"traceId", "spanId"}
        else in_base64(item)
        for key, item in value.items()
    }


def items(content):
    """Return the spans and log records of a file."""
    return list(documents.read(Source("recording", io.BytesIO(content))))
