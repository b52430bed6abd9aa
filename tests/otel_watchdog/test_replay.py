"""Recordings in every form give the same runs, judged as they would have been live."""

import gzip
import io
import json
import struct
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_watchdog import InputError, Mode, RepeatedToolCall, WatchdogConfig, replay
from otel_watchdog.recordings import Source, Window, read as read_recording
from otel_watchdog.recordings.json_stream import MAX_DEPTH

FILES = Path(__file__).parent / "testdata" / "replay"
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


def test_agents_in_one_trace_have_sessions_named_after_their_conversations():
    """What they share, their order says; each carries its agent."""
    (run,) = replay.read(FILES / "multi_pydantic_ai__parallel_agents.json")

    assert run.id == "multi_pydantic_ai__parallel_agents"
    assert sorted((s.agent, s.runs, s.calls) for s in run.sessions) == [
        (f"worker_{n}", 1, 4) for n in range(3)
    ]
    assert len({session.id for session in run.sessions}) == 3


def test_a_conversation_that_becomes_known_late_names_its_session():
    """The tool span comes first, the model span tells the conversation."""
    model = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": "conversation-1"}
    content = json.dumps(request(tool_span(), model)).encode()

    (run,) = shapes(content)

    assert [session["id"] for session in run["sessions"]] == ["conversation-1"]
    assert {one["session"] for one in run["observations"]} == {"conversation-1"}


def test_spans_of_nobody_are_a_quiet_run():
    """Programs without an agent have traces too."""
    (run,) = shapes(json.dumps(request({"http.method": "GET"})).encode())

    assert run["sessions"] == []
    assert run["findings"] == []


def test_findings_and_corrections_carry_the_place():
    """The shape is public."""
    content = json.dumps({"id": "r", "events": list(calls(5))}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall()])

    assert run["findings"] == [
        {
            "event": 8,
            "turn": 5,
            "session": "r",
            "detector": "repeated_tool_call",
            "kind": "loop",
            "severity": "critical",
            "reason": 'ls was called 5 times in a row with {"path":"a"}',
            "held": None,
        }
    ]
    (correction,) = run["corrections"]
    assert correction.pop("message").startswith("[watchdog]")
    assert correction == {
        "event": 8,
        "turn": 5,
        "n": 1,
        "tier": "nudge",
        "detector": "repeated_tool_call",
        "kind": "loop",
        "max_turns": None,
    }


def test_outcomes_say_what_came_of_corrections():
    """The recording goes on as if nothing had been said: a loop that goes on was ignored."""
    content = json.dumps({"id": "r", "events": list(calls(7))}).encode()
    config = WatchdogConfig(refractory_turns=0)

    (run,) = shapes(content, detectors=[RepeatedToolCall()], config=config)

    (outcome,) = run["outcomes"]
    assert outcome.pop("response") == "ls brought the same again from turn 6 on"
    assert outcome == {
        "event": 11,
        "turn": 6,
        "n": 1,
        "outcome": "ignored",
        "turns_to_heed": None,
    }


def test_a_finding_that_is_held_says_why():
    """Two detectors that fire at once are one correction; the other was merged into it."""
    content = json.dumps({"id": "r", "events": list(calls(5))}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall(), RepeatedToolCall()])

    assert [found["held"] for found in run["findings"]] == [None, "merged"]


@pytest.mark.parametrize("mode", [Mode.OBSERVE, Mode.FEEDBACK, Mode.ENFORCE])
def test_the_ladder_climbs_as_it_would_have_done(mode):
    """Each correction counts as given at the next turn."""
    content = json.dumps({"id": "r", "events": list(calls(25))}).encode()
    config = WatchdogConfig(mode=mode)

    (run,) = shapes(content, detectors=[RepeatedToolCall()], config=config)

    assert [(c["turn"], c["n"], c["tier"]) for c in run["corrections"]] == [
        (5, 1, "nudge"),
        (10, 2, "redirect"),
        (15, 3, "force-wrap"),
        (20, 4, "hard-stop"),
        (25, 5, "terminate"),
    ]


def test_what_stands_in_the_same_turn_was_not_corrected_yet():
    """The agent is given a correction at its next turn, not before."""
    batch = [event("tool_call", 1, name="ls", args={}, t=n * 100) for n in range(20)]
    content = json.dumps({"id": "r", "events": batch}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall(threshold=2)])

    assert len(run["corrections"]) == 1


def test_blind_detectors_say_what_they_lack_by_session():
    """What was not captured is unknown, and said."""
    (run,) = replay.read(
        FILES / "092-tool-spans-without-arguments.json", detectors=[RepeatedToolCall()]
    )

    assert run.findings == []
    assert run.blind[run.id]["repeated_tool_call"] == (
        "the arguments of tool calls are not captured"
    )


def test_each_kind_of_event_is_an_observation():
    """Texts, calls, results and users, between the run's ends."""
    found = observed(
        event("user_text", 0, result="go"),
        event("assistant_text", 1, result="I look."),
        event("tool_call", 1, name="ls", args={"b": 1, "a": None}, call_id="c1"),
        event("tool_result", 1, name="ls", result="a.txt", error=False, call_id="c1"),
    )

    about = {"session": "r"}
    assert found == [
        about | {"kind": "run_started", "turn": 0},
        about | {"kind": "user_message", "turn": 0, "result": "go"},
        about | {"kind": "model_turn", "turn": 1, "result": "I look."},
        about
        | {
            "kind": "tool_call",
            "turn": 1,
            "name": "ls",
            "call_id": "c1",
            "arguments": '{"b":1,"a":null}',
        },
        about
        | {
            "kind": "tool_result",
            "turn": 1,
            "name": "ls",
            "call_id": "c1",
            "result": "a.txt",
            "outcome": "ok",
        },
        about | {"kind": "run_ended", "turn": 1},
    ]


def test_a_turn_without_text_is_no_model_turn():
    """Absence is silence in this form, not an uncaptured text."""
    found = observed(event("tool_call", name="ls", args=None))

    assert [one["kind"] for one in found] == ["run_started", "tool_call", "run_ended"]
    assert "arguments" not in found[1]


@pytest.mark.parametrize(
    ("result", "error", "outcome"),
    [
        ("a.txt", False, "ok"),
        ("a.txt", None, "ok"),
        ("no matches", False, "empty"),
        ("boom", True, "error"),
        ('{"error": "401 Unauthorized"}', False, "error"),
        (None, False, "ok"),
        (None, None, "unknown"),
    ],
)
def test_outcomes(result, error, outcome):
    """An error may be the span's, or stand in the result; unknown stays unknown."""
    found = observed(event("tool_result", name="ls", result=result, error=error))

    assert found[1]["outcome"] == outcome


def test_a_result_without_an_id_belongs_to_the_oldest_open_call_of_its_name():
    """It carries that call's turn."""
    found = observed(
        event("tool_call", 1, name="a", args={}),
        event("tool_call", 1, name="b", args={}),
        event("tool_call", 2, name="a", args={}),
        event("tool_result", 2, name="a", result="1"),
        event("tool_result", 2, name="a", result="2"),
        event("tool_result", 2, name="b", result="3"),
    )

    results = [(one["name"], one["turn"]) for one in found if one["kind"] == "tool_result"]
    assert results == [("a", 1), ("a", 2), ("b", 1)]


def test_what_is_delivered_twice_counts_once():
    """The same call by the same id in the same turn; a later turn may use the id again."""
    call = event("tool_call", 1, name="ls", args={}, call_id="c1")
    result = event("tool_result", 1, name="ls", result="a", call_id="c1")
    later = [call | {"turn": 2}, result | {"turn": 2}]

    found = observed(call, result, call, result, *later)

    assert [(one["kind"], one["turn"]) for one in found[1:-1]] == [
        ("tool_call", 1),
        ("tool_result", 1),
        ("tool_call", 2),
        ("tool_result", 2),
    ]


def test_an_event_without_a_turn_carries_on():
    """It is in the turn of the one before it; the first is in turn 1."""
    found = observed(
        {"kind": "tool_call", "name": "ls"},
        event("tool_call", 3, name="ls"),
        {"kind": "assistant_text", "result": "done"},
    )

    assert [one["turn"] for one in found[1:-1]] == [1, 3, 3]


def test_agents_have_sessions_of_their_own():
    """Where there are several; one alone has the run's."""
    (run,) = replay.read(FILES / "052-supervisor-worker-handoff-loop.json")

    assert [(s.id, s.agent) for s in run.sessions] == [
        (f"{run.id}/supervisor", "supervisor"),
        (f"{run.id}/worker", "worker"),
    ]
    assert {one["session"] for one in observed(event("user_text", agent="only", result="x"))} == {
        "r"
    }


def test_runs_follow_each_other_in_their_session():
    """A session outlives its runs: an agent that is started again remembers."""
    (run,) = replay.read(FILES / "086-five-restarts-in-fifteen-minutes.json")

    assert [(s.id, s.runs, s.calls) for s in run.sessions] == [(run.id, 7, 7)]


def test_times_may_be_seconds_or_iso():
    """Both space out corrections."""
    iso = [one | {"t": f"2025-03-19T16:{one['turn']:02d}:00.5Z"} for one in calls(10)]
    content = json.dumps({"id": "r", "events": iso}).encode()

    (run,) = shapes(content, detectors=[RepeatedToolCall()])

    assert len(run["corrections"]) == 2


def test_half_characters_do_not_end_a_recording():
    """Programs that cut texts leave lone surrogates; JSON allows them, UTF-8 does not."""
    text = (
        r'{"id": "r", "events": [{"kind": "user_text", "result": "\\ud83d \ud83d \ud83d\ude00"}]}'
    )

    (run,) = shapes(text.encode())

    assert run["observations"][1]["result"] == "\\ud83d \ufffd 😀"


def test_a_span_that_one_of_our_parts_cannot_take_is_noted():
    """What comes from strangers never ends a replay."""
    content = json.dumps(request(tool_span(), tool_span())).encode()

    class Broken(RepeatedToolCall):
        def observe(self, *_):
            raise RuntimeError("oops")

    (run,) = replay.read(io.BytesIO(content), detectors=[Broken()])

    assert run.errors == ["repeated_tool_call failed: RuntimeError: oops"] * 2


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


SMALL = {
    "trace": json.dumps(request(tool_span(), {"gen_ai.operation.name": "chat"}), indent=1).encode(),
    "lines": b"\n".join(
        json.dumps({"id": name, "events": [event("user_text", result="é")]}).encode()
        for name in "ab"
    ),
    "protobuf": b"",
}
_request = ExportTraceServiceRequest()
_group = _request.resource_spans.add().scope_spans.add()
_group.scope.name = "s"
_span = _group.spans.add(
    name="n", span_id=b"12345678", start_time_unix_nano=1, end_time_unix_nano=2
)
_span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
SMALL["protobuf"] = _request.SerializeToString()
SMALL["protobuf with lengths"] = (varint(len(SMALL["protobuf"])) + SMALL["protobuf"]) * 2
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
