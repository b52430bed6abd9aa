"""OTLP's protobuf messages as plain spans and log records."""

import base64
from collections.abc import Iterable
from typing import Any, Final

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from otel_watchdog import instrumentations
from otel_watchdog.spans import LogRecord, RecordedSpan, SpanEvent

_NANOSECONDS: Final = 1e9
_STATUS: Final = {trace_pb2.Status.STATUS_CODE_ERROR: True, trace_pb2.Status.STATUS_CODE_OK: False}


def span_of(span: trace_pb2.Span, scope: str) -> RecordedSpan:
    """Return a span as it was written in a scope of this name."""
    return RecordedSpan(
        name=span.name,
        scope=scope,
        trace_id=int.from_bytes(span.trace_id),
        span_id=int.from_bytes(span.span_id),
        parent_id=int.from_bytes(span.parent_span_id) or None,
        attributes=attributes_of(span.attributes),
        events=[SpanEvent(event.name, attributes_of(event.attributes)) for event in span.events],
        is_error=_STATUS.get(span.status.code),
        status_text=span.status.message,
        start=span.start_time_unix_nano / _NANOSECONDS,
        end=span.end_time_unix_nano / _NANOSECONDS or None,
    )


def log_of(record: logs_pb2.LogRecord, scope: str) -> LogRecord:
    """Return a log record as it was written in a scope of this name."""
    attributes = attributes_of(record.attributes)
    written = record.time_unix_nano or record.observed_time_unix_nano
    return LogRecord(
        name=str(attributes.get(instrumentations.EVENT_NAME) or record.event_name),
        scope=scope,
        trace_id=int.from_bytes(record.trace_id),
        parent_id=int.from_bytes(record.span_id) or None,
        attributes=attributes,
        body=value_of(record.body),
        start=written / _NANOSECONDS,
    )


def attributes_of(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    """Return attributes by name."""
    return {pair.key: value_of(pair.value) for pair in pairs}


def value_of(value: AnyValue) -> Any:
    """Return a value as its JSON form would be read."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [value_of(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return attributes_of(value.kvlist_value.values)
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    return getattr(value, kind)
