"""OTLP protobuf as plain spans, whose attributes are read when they are asked for.

Messages are declared here with no more than is read of them, and attributes as maps of bytes: on
the wire that is the same as a list of pairs, but what nobody asks for is never made an object.
"""

import base64
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from otel_watchdog import instrumentations, spans
from otel_watchdog.spans import RecordedSpan, SpanEvent

NO_LIMIT: Final = 1 << 62

_NANOSECONDS: Final = 1e9
_STATUS: Final = {1: False, 2: True}
"""Whether a status is an error, by its code; without one nobody said."""

_STRING_TAG: Final = 0x0A
_UNREAD: Final = object()

_Field = descriptor_pb2.FieldDescriptorProto
_TYPES: Final[Mapping[str, "_Field.Type.ValueType"]] = {
    "bytes": _Field.TYPE_BYTES,
    "fixed64": _Field.TYPE_FIXED64,
    "int32": _Field.TYPE_INT32,
    "string": _Field.TYPE_STRING,
}
_MESSAGES: Final[Mapping[str, Sequence[tuple[int, str, str]]]] = {
    "Scope": [(1, "name", "string")],
    "Resource": [(1, "attributes", "map")],
    "Status": [(2, "message", "string"), (3, "code", "int32")],
    "Event": [(2, "name", "string"), (3, "attributes", "map")],
    "Span": [
        (1, "trace_id", "bytes"),
        (2, "span_id", "bytes"),
        (4, "parent_span_id", "bytes"),
        (5, "name", "string"),
        (7, "start_time_unix_nano", "fixed64"),
        (8, "end_time_unix_nano", "fixed64"),
        (9, "attributes", "map"),
        (11, "events", "*Event"),
        (15, "status", "Status"),
    ],
    "ScopeSpans": [(1, "scope", "Scope"), (2, "spans", "*Span")],
    "ResourceSpans": [(1, "resource", "Resource"), (2, "scope_spans", "*ScopeSpans")],
    "TraceRequest": [(1, "resource_spans", "*ResourceSpans")],
    "LogRecord": [
        (1, "time_unix_nano", "fixed64"),
        (5, "body", "bytes"),
        (6, "attributes", "map"),
        (9, "trace_id", "bytes"),
        (10, "span_id", "bytes"),
        (11, "observed_time_unix_nano", "fixed64"),
        (12, "event_name", "string"),
    ],
    "ScopeLogs": [(1, "scope", "Scope"), (2, "log_records", "*LogRecord")],
    "ResourceLogs": [(1, "resource", "Resource"), (2, "scope_logs", "*ScopeLogs")],
    "LogsRequest": [(1, "resource_logs", "*ResourceLogs")],
}
"""Of each message its fields: number, name, and type; `*` stands before one that repeats."""


def _declared() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="otlp.proto", package="otlp", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field, kind in fields:
            is_many = kind == "map" or kind.startswith("*")
            label = _Field.LABEL_REPEATED if is_many else _Field.LABEL_OPTIONAL
            made = message.field.add(name=field, number=number, label=label)
            if kind in _TYPES:
                made.type = _TYPES[kind]
                continue
            made.type = _Field.TYPE_MESSAGE
            made.type_name = f".otlp.{kind.removeprefix('*')}"
            if kind == "map":
                entry = message.nested_type.add(name=f"{field.capitalize()}Entry")
                entry.options.map_entry = True
                made.type_name = f".otlp.{name}.{entry.name}"
                for place, part in enumerate(("key", "value"), 1):
                    is_key = part == "key"
                    entry.field.add(
                        name=part,
                        number=place,
                        label=_Field.LABEL_OPTIONAL,
                        type=_Field.TYPE_STRING if is_key else _Field.TYPE_BYTES,
                    )
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


_pool: Final = _declared()


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"otlp.{name}"))


TraceRequest: Final = _message("TraceRequest")
LogsRequest: Final = _message("LogsRequest")
Span: Final = _message("Span")
LogRecord: Final = _message("LogRecord")
Scope: Final = _message("Scope")


class Attributes(Mapping[str, Any]):
    """Attributes as they came, each read when it is first asked for.

    What cannot be read, or is too long, counts as not captured: it is `None`. Keeps the whole
    message that it stands in: copy it to a dictionary to keep it for long.

    Args:
        raw: Encoded values by name.
        longest: Characters of a text that are allowed.
    """

    __slots__ = ("_longest", "_names", "_raw", "_read")

    def __init__(self, raw: Mapping[str, bytes], longest: int = NO_LIMIT) -> None:
        self._raw = raw
        self._longest = longest
        self._read: dict[str, Any] = {}
        self._names: tuple[str, ...] | None = None

    def get(self, key: str, default: Any = None) -> Any:
        """See `Mapping.get`."""
        read, raw = self._read, self._raw
        if key in read:
            return read[key]
        if key not in raw:
            return default
        value = value_of(raw[key])
        if type(value) is str and len(value) > self._longest:
            value = None
        read[key] = value
        return value

    def __getitem__(self, key: str) -> Any:
        value = self.get(key, _UNREAD)
        if value is _UNREAD:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._raw

    def __iter__(self) -> Iterator[str]:
        if self._names is None:
            self._names = tuple(self._raw)
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._raw)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[tuple[tuple[str, Any], ...]]]:
        """Be a plain dictionary wherever it is sent; an ordered one, as snapshots may hold."""
        return OrderedDict, (tuple(self.items()),)


def span_of(span: Any, scope: str, *, longest: int = NO_LIMIT, bare: bool = False) -> RecordedSpan:
    """Return a span.

    Args:
        span: A `Span`.
        scope: Name of its instrumentation scope.
        longest: Characters of a text attribute that are allowed.
        bare: Whether its attributes and events are of no interest.
    """
    status = span.status
    return RecordedSpan(
        name=span.name,
        scope=scope,
        trace_id=int.from_bytes(span.trace_id),
        span_id=int.from_bytes(span.span_id),
        parent_id=int.from_bytes(span.parent_span_id) or None,
        attributes={} if bare else Attributes(span.attributes, longest),
        events=()
        if bare or not span.events
        else [SpanEvent(one.name, Attributes(one.attributes, longest)) for one in span.events],
        is_error=_STATUS.get(status.code),
        status_text=status.message,
        start=span.start_time_unix_nano / _NANOSECONDS,
        end=span.end_time_unix_nano / _NANOSECONDS or None,
    )


def log_of(record: Any, scope: str, *, longest: int = NO_LIMIT) -> spans.LogRecord:
    """Return a log record.

    Args:
        record: A `LogRecord`.
        scope: Name of its instrumentation scope.
        longest: Characters of a text attribute that are allowed, and of a body that is a text.
    """
    attributes = Attributes(record.attributes, longest)
    body = value_of(record.body)
    written = record.time_unix_nano or record.observed_time_unix_nano
    return spans.LogRecord(
        name=str(attributes.get(instrumentations.EVENT_NAME) or record.event_name),
        scope=scope,
        trace_id=int.from_bytes(record.trace_id),
        parent_id=int.from_bytes(record.span_id) or None,
        attributes=attributes,
        body=None if type(body) is str and len(body) > longest else body,
        start=written / _NANOSECONDS,
    )


def value_of(raw: bytes) -> Any:
    r"""Return an encoded `AnyValue` as its JSON form would be read; `None` if it is none.

    >>> value_of(b"\n\x02ok"), value_of(b"\x18\x07"), value_of(b"")
    ('ok', 7, None)
    """
    if raw and raw[0] == _STRING_TAG:
        size, start = raw[1] if len(raw) > 1 else 0, 2
        if size >= 0x80:  # noqa: PLR2004 - the bit that says that more follows
            size, start = _long_size(raw)
        if size == len(raw) - start:
            return raw[start:].decode("utf-8", "replace")
    try:
        return _plain(AnyValue.FromString(raw))
    except DecodeError:
        return None


def _long_size(raw: bytes) -> tuple[int, int]:
    """Return the length of a text, and where it begins."""
    size = place = shift = 0
    for place, byte in enumerate(raw[1:11], 1):  # noqa: B007 - where it ends
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004
            break
    return size, place + 1


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_plain(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _plain(pair.value) for pair in value.kvlist_value.values}
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    return getattr(value, kind)
