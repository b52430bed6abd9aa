"""Recordings made by hand, and what comes of reading them."""

import io
import json
from pathlib import Path

import pytest

from otel_watchdog import InputError, replay
from otel_watchdog.recordings import Source, read as read_recording

FILES = Path(__file__).parents[1] / "testdata" / "replay"


TRACE = FILES / "pydantic_ai__native.json"


PROTOBUF = FILES / "pydantic_ai__native.pb"


def shapes(content, **options):
    """Return the JSON shapes of all runs in a recording, with observations."""
    file = io.BytesIO(content)
    file.name = "recording.json"
    return [run.as_json(observations=True) for run in replay.read(file, **options)]


def event(kind, turn=1, **keys):
    return {"kind": kind, "turn": turn, **keys}


def observed(*events, run_id="r"):
    """Return what is observed of a run of such events, without what is not known."""
    (run,) = shapes(json.dumps({"id": run_id, "events": events}).encode())
    return [
        {key: value for key, value in one.items() if value is not None}
        for one in run["observations"]
    ]


def calls(count, *, pause=100, first=1):
    """Return events of one call made again and again, a turn each."""
    for turn in range(first, first + count):
        yield event("tool_call", turn, name="ls", args={"path": "a"}, t=turn * pause)
        yield event("tool_result", turn, name="ls", result=f"{turn}", error=False, t=turn * pause)


def request(*attributes, scope="s", scope_first=True):
    """Return an OTLP/JSON request with a span for each mapping of attributes."""
    spans = [
        {
            "traceId": "1" * 32,
            "spanId": f"{number:016x}",
            "startTimeUnixNano": f"{number}000000000",
            "endTimeUnixNano": f"{number}500000000",
            "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in one.items()],
        }
        for number, one in enumerate(attributes, start=1)
    ]
    group = {"scope": {"name": scope}, "spans": spans}
    if not scope_first:
        group = dict(reversed(group.items()))
    return {"resourceSpans": [{"scopeSpans": [group]}]}


def tool_span(name="ls", **more):
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **more}


def streamed(content):
    """Read as a file that does not fit into memory is read."""
    return list(read_recording(Source("big", io.BytesIO(content), head_bytes=64)))


def whole(content):
    return list(read_recording(Source("small", io.BytesIO(content))))


def in_lines(trace):
    """Return an OTLP/JSON request as one request a line, a span each."""
    lines = [
        json.dumps(
            {"resourceSpans": [{"scopeSpans": [{"scope": group["scope"], "spans": [span]}]}]}
        )
        for resource in trace["resourceSpans"]
        for group in resource["scopeSpans"]
        for span in group["spans"]
    ]
    return "\n".join(lines).encode()


def refusal(items):
    """Return why a recording was refused; "" if it was not. Nothing but `InputError` may come."""
    try:
        list(items)
    except InputError as error:
        return str(error)
    return ""


def ids_before_refusal(content):
    """Return the ids of the runs that are judged before a recording is refused."""
    ids: list[str] = []
    with pytest.raises(InputError):
        ids.extend(run.id for run in replay.read(io.BytesIO(content)))
    return ids


def read_parts(content, head_bytes):
    return read_recording(Source("f", io.BytesIO(content), head_bytes=head_bytes))


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])
