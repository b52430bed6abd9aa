"""OTLP protobuf, read late: the same values as the stock decoder's."""

import base64
import math
import pickle
from collections import OrderedDict

import pytest
from hypothesis import given, strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from otel_watchdog.otlp_messages import Attributes, Span, TraceRequest, span_of, value_of

TEXT_SIZES = [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]
"""Around each length at which the length itself takes a byte more."""

leaves = (
    st.none().map(lambda _: (AnyValue(), None))
    | st.text().map(lambda text: (AnyValue(string_value=text), text))
    | st.booleans().map(lambda value: (AnyValue(bool_value=value), value))
    | st.integers(-(2**63), 2**63 - 1).map(lambda value: (AnyValue(int_value=value), value))
    | st.floats(allow_nan=False).map(lambda value: (AnyValue(double_value=value), value))
    | st.binary().map(lambda value: (AnyValue(bytes_value=value), base64.b64encode(value).decode()))
)


def listed(items):
    """Return a list of values, as OTLP has it and as it is read."""
    return (
        AnyValue(array_value=ArrayValue(values=[value for value, _ in items])),
        [plain for _, plain in items],
    )


def mapped(items):
    """Return a mapping of values, as OTLP has it and as it is read."""
    pairs = [KeyValue(key=key, value=value) for key, (value, _) in items.items()]
    return (
        AnyValue(kvlist_value=KeyValueList(values=pairs)),
        {key: plain for key, (_, plain) in items.items()},
    )


values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4).map(listed)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4).map(mapped)
    ),
    max_leaves=12,
)


@given(values)
def test_each_value_is_what_json_would_have(pair):
    """Whatever its kind, and however deep."""
    value, plain = pair

    assert value_of(value.SerializeToString()) == plain


@pytest.mark.parametrize("size", TEXT_SIZES)
def test_texts_of_each_length(size):
    """The length before a text takes one byte or several."""
    text = "ä" * (size // 2) + "b" * (size % 2)
    assert len(text.encode()) == size

    assert value_of(AnyValue(string_value=text).SerializeToString()) == text


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"\x0a\x82\x00ab", "ab"),  # a length in more bytes than it needs
        (b"\x0a\x01a\x0a\x01b", "b"),  # the last one counts
        (b"\x18\x01\x0a\x01b", "b"),
        (b"\x0a\x03a\xffb", "a\N{REPLACEMENT CHARACTER}b"),
        (b"\x0a\x05ab", None),
        (b"\x0a", None),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", None),
        (b"\xff", None),
    ],
)
def test_odd_and_broken_values_harm_nobody(raw, value):
    """What cannot be read was not captured; what can is read as protobuf's rules say."""
    assert value_of(raw) == value


@given(st.dictionaries(st.text(max_size=12), values, max_size=8))
def test_a_span_has_the_attributes_that_were_sent(items):
    """By name, in all, and none that is not there."""
    request = ExportTraceServiceRequest()
    sent = request.resource_spans.add().scope_spans.add().spans.add(name="s")
    sent.attributes.extend(KeyValue(key=key, value=value) for key, (value, _) in items.items())
    span = TraceRequest.FromString(request.SerializeToString()).resource_spans[0]

    attributes = span_of(span.scope_spans[0].spans[0], "scope").attributes

    assert dict(attributes) == {key: plain for key, (_, plain) in items.items()}
    assert "not there" not in attributes
    assert attributes.get("not there", math.pi) == math.pi
    with pytest.raises(KeyError):
        attributes["not there"]


def test_all_parts_of_a_span_are_read():
    """Ids, times, status and events, as the stock messages have them."""
    request = ExportTraceServiceRequest()
    sent = (
        request.resource_spans.add()
        .scope_spans.add()
        .spans.add(
            name="chat m",
            trace_id=bytes(range(16)),
            span_id=bytes(range(8)),
            parent_span_id=b"\1" * 8,
            start_time_unix_nano=1_500_000_000,
            end_time_unix_nano=2_500_000_000,
        )
    )
    sent.status.code = Status.STATUS_CODE_ERROR
    sent.status.message = "no"
    event = sent.events.add(name="exception")
    event.attributes.append(KeyValue(key="a", value=AnyValue(int_value=7)))

    span = span_of(Span.FromString(sent.SerializeToString()), "scope")

    assert (span.name, span.scope, span.is_error, span.status_text) == (
        "chat m",
        "scope",
        True,
        "no",
    )
    assert (span.trace_id, span.span_id) == (
        int.from_bytes(bytes(range(16))),
        int.from_bytes(bytes(range(8))),
    )
    assert (span.parent_id, span.start, span.end) == (int.from_bytes(b"\1" * 8), 1.5, 2.5)
    assert [(one.name, dict(one.attributes)) for one in span.events] == [("exception", {"a": 7})]


def test_a_text_that_is_too_long_was_not_captured():
    """The others are."""
    raw = {
        "long": AnyValue(string_value="x" * 11).SerializeToString(),
        "short": AnyValue(string_value="x" * 10).SerializeToString(),
    }

    attributes = Attributes(raw, longest=10)

    assert dict(attributes) == {"long": None, "short": "x" * 10}


def test_they_are_frozen_as_a_dictionary():
    """A snapshot holds no messages."""
    attributes = Attributes({"a": AnyValue(int_value=1).SerializeToString()})

    thawed = pickle.loads(pickle.dumps(attributes))  # noqa: S301 - what was just made

    assert type(thawed) is OrderedDict
    assert thawed == {"a": 1}
