"""Bad input is one message that names the place, whatever it is and wherever it is cut."""

import gzip
import io
import json

import pytest
from hypothesis import given, strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_watchdog import InputError, replay
from otel_watchdog.recordings.json_stream import MAX_DEPTH
from tests.otel_watchdog.recordings.recording_cases import (
    PROTOBUF,
    TRACE,
    calls,
    event,
    ids_before_refusal,
    read_parts,
    refusal,
    request,
    streamed,
    tool_span,
    varint,
)

BAD = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "text": (b"hello", ":1:1: neither JSON nor OTLP protobuf"),
    "array": (b"\n  [1]", ":2:3: neither JSON nor OTLP protobuf"),
    "UTF-16": ('{"id": 1}'.encode("utf-16"), "byte 0: is UTF-16"),
    "not UTF-8": (b'{\n"id": "\xe9"}', ":2:8: not JSON: not UTF-8"),
    "cut JSON": (b'{"id": "r", "events": [', ":1:24: not JSON"),
    "no such shape": (b'{"a": 1}', ":1: must have resourceSpans (OTLP) or events"),
    "metrics": (b'{"resourceMetrics": []}', ":1: resourceMetrics: these are OTLP metrics"),
    "logs": (b'{"resourceLogs": 3}', ":1: resourceLogs: must be a list of objects, got int"),
    "events": (b'{"events": {}}', ":1: events: must be a list of objects, got dict"),
    "event": (b'{"events": [{}, 3]}', "events[1]: must be an object, got int"),
    "kind": (b'{"events": [{"kind": "x"}]}', "events[0].kind: must be one of assistant_text"),
    "turn": (b'{"events": [{"kind": "user_text", "turn": -1}]}', "events[0].turn: must be"),
    "time": (b'{"events": [{"kind": "user_text", "t": "noon"}]}', "events[0].t: must be"),
    "name": (b'{"events": [{"kind": "tool_call", "name": []}]}', "events[0].name: must be text"),
    "second line": (b'{"events": []}\n{"events": []}\n{"events"\n', ":3:10: not JSON"),
    "spans": (
        b'{"resourceSpans": [{}, {"scopeSpans": [{"spans": [{"spanId": "xyz"}]}]}]}',
        ":1: resourceSpans[1].scopeSpans[0].spans[0]: not an OTLP span",
    ),
    "scope": (
        b'{"resourceSpans": [{"scopeSpans": [{"scope": "s", "spans": []}]}]}',
        "resourceSpans[0].scopeSpans[0].scope: must be an object",
    ),
    "binary": (b"\x00\x01\x02\x03garbage", "byte 2: not OTLP protobuf"),
    "cut protobuf": (PROTOBUF.read_bytes()[:-5], "OTLP protobuf that is cut (resourceSpans[0]"),
    "not spans": (b"\x0a\x06\x12\x04\x12\x02\x08\x01", "(resourceSpans[0].scopeSpans[0].spans[0])"),
    "damaged gzip": (gzip.compress(b"{}")[:-8] + b"garbage!", "damaged gzip data"),
    "cut gzip": (gzip.compress(TRACE.read_bytes())[:-9], "the gzip data is cut"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_with_its_place(name):
    """Line and column, byte, or the path in the document."""
    content, message = BAD[name]
    file = io.BytesIO(content)
    file.name = "bad.json"

    with pytest.raises(InputError) as caught:
        list(replay.read(file))

    assert str(caught.value).startswith("bad.json")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"resourceSpans": [' + b" " * 80, "not JSON: parse error: premature EOF"),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1"}, {"a" 1}' + b" " * 80,
            "after resourceSpans[0].scopeSpans[0].spans[0]: not JSON",
        ),
        (b'{"resourceSpans": {"a": 1}' + b" " * 80 + b"}", "resourceSpans: must be a list"),
        (b'{"resourceSpans": [1' + b" " * 80 + b"]}", "resourceSpans[0]: must be an object"),
        (b'{"a": ' + b"[" * 5000, f"nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_bad_input_that_is_streamed_is_named_with_its_place(content, message):
    """Also where the whole does not fit into memory."""
    with pytest.raises(InputError) as caught:
        streamed(content)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_runs_before_a_bad_line_are_judged():
    """Also those of a request a line."""
    line = json.dumps({"id": "r", "events": []}).encode() + b"\n"
    trace = json.dumps(request(tool_span())).encode() + b"\n"

    runs = [ids_before_refusal(line + line + line[:9]), ids_before_refusal(trace + trace[:9])]

    assert runs == [["r", "r"], ["stream"]]


def test_runs_before_the_cut_of_a_gzip_file_are_judged():
    """What was unpacked is good."""
    lines = [json.dumps({"id": f"r{n}", "events": list(calls(9, first=n))}) for n in range(200)]
    packed = gzip.compress("\n".join(lines).encode())

    assert len(ids_before_refusal(packed[: len(packed) // 2])) > 50


def packed_request():
    """Return a request of one span as protobuf."""
    packed = ExportTraceServiceRequest()
    group = packed.resource_spans.add().scope_spans.add()
    group.scope.name = "s"
    span = group.spans.add(
        name="n", span_id=b"12345678", start_time_unix_nano=1, end_time_unix_nano=2
    )
    span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    return packed.SerializeToString()


def packed_logs():
    """Return a request of one log record as protobuf."""
    packed = ExportLogsServiceRequest()
    group = packed.resource_logs.add().scope_logs.add()
    group.scope.name = "s"
    record = group.log_records.add(event_name="n", time_unix_nano=1, span_id=b"12345678")
    record.body.string_value = "said"
    return packed.SerializeToString()


SMALL = {
    "trace": json.dumps(request(tool_span(), {"gen_ai.operation.name": "chat"}), indent=1).encode(),
    "lines": b"\n".join(
        json.dumps({"id": name, "events": [event("user_text", result="é")]}).encode()
        for name in "ab"
    ),
    "protobuf": packed_request(),
    "protobuf with lengths": (varint(len(packed_request())) + packed_request()) * 2,
    "logs in protobuf": packed_logs(),
}
SMALL |= {f"{name}, gzipped": gzip.compress(content) for name, content in SMALL.items()}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("head_bytes", [16, 1 << 20])
def test_a_file_that_is_cut_anywhere_is_bad_input_at_worst(name, head_bytes):
    """No cut raises anything else."""
    content = SMALL[name]

    refusals = [refusal(read_parts(content[:size], head_bytes)) for size in range(len(content))]

    assert list(read_parts(content, head_bytes))
    assert sum(map(bool, refusals)) > len(content) / 2
    assert [why for why in refusals if why and not why.startswith("f")] == []


@given(content=st.binary(max_size=200), head_bytes=st.sampled_from([8, 1 << 20]))
def test_arbitrary_bytes_are_bad_input_at_worst(content, head_bytes):
    """Whatever stands in a file."""
    assert refusal(read_parts(content, head_bytes))[:1] in {"", "f"}


@given(
    place=st.integers(min_value=0, max_value=10_000),
    byte=st.integers(min_value=0, max_value=255),
    name=st.sampled_from(sorted(SMALL)),
)
def test_a_changed_byte_is_bad_input_at_worst(place, byte, name):
    """Whatever it makes of a good file; judged, not only read."""
    content = bytearray(SMALL[name])
    content[place % len(content)] = byte

    why = refusal(replay.read(io.BytesIO(bytes(content))))

    assert not why or why.startswith("stream")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "resourceSpans",
                    "scopeSpans",
                    "scope",
                    "spans",
                    "spanId",
                    "traceId",
                    "attributes",
                    "key",
                    "value",
                    "events",
                    "kind",
                    "id",
                    "status",
                    "startTimeUnixNano",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(value=JSON, key=st.sampled_from(["resourceSpans", "events"]))
def test_any_shape_is_bad_input_at_worst(value, key):
    """Right names, wrong things under them; streamed and not."""
    content = json.dumps({key: value}).encode()

    for head_bytes in (8, 1 << 20):
        assert refusal(read_parts(content, head_bytes))[:1] in {"", "f"}


VALUES = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["a", "b", [], {"a": []}])


EVENT_KEYS = ["turn", "name", "args", "result", "error", "call_id", "agent", "run", "t"]


EVENTS = st.lists(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["assistant_text", "tool_call", "tool_result", "user_text"])},
        optional=dict.fromkeys(EVENT_KEYS, VALUES),
    ),
    max_size=4,
)


@given(EVENTS)
def test_any_events_are_judged_or_bad_input(events):
    """Whatever stands under their keys."""
    content = json.dumps({"id": "r", "events": events}).encode()

    why = refusal(
        pytest.fail(run.errors[0]) if run.errors else run
        for run in replay.read(io.BytesIO(content))
    )

    assert not why or "events[" in why or "not JSON" in why
