"""OTLP protobuf, read by the stock decoder; only attributes that may be asked for are touched."""

import base64
from collections.abc import Iterable
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from otel_watchdog.errors import InputError
from otel_watchdog.spans import RecordedSpan, SpanEvent
from otel_watchdog_collector.wire.batch import (
    Batch,
    Limits,
    LogRecord,
    PlainNames,
    Resource,
    flaw,
)

_NANOSECONDS: Final = 1e9
_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8
_STATUS: Final = {Status.STATUS_CODE_ERROR: True, Status.STATUS_CODE_OK: False}


def read_traces(body: bytes, limits: Limits, plain: PlainNames) -> Batch:
    """Read a trace request.

    Raises:
        InputError: It is none.
    """
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError as error:
        raise InputError(f"not an OTLP trace request in protobuf: {error}") from None
    batch = Batch()
    for group in request.resource_spans:
        batch.resources.append(Resource(_attributes(group.resource.attributes, limits)))
        index = len(batch.resources) - 1
        for part in group.scope_spans:
            scope = part.scope.name
            names = plain(scope)
            for span in part.spans:
                read = _span(batch, span, scope, limits, bare=span.name in names)
                if read is not None:
                    batch.spans.append(read)
                    batch.resource_of.append(index)
    return batch


def read_logs(body: bytes, limits: Limits) -> Batch:
    """Read a log request.

    Raises:
        InputError: It is none.
    """
    try:
        request = ExportLogsServiceRequest.FromString(body)
    except DecodeError as error:
        raise InputError(f"not an OTLP log request in protobuf: {error}") from None
    batch = Batch()
    for group in request.resource_logs:
        batch.resources.append(Resource(_attributes(group.resource.attributes, limits)))
        for part in group.scope_logs:
            for record in part.log_records:
                if len(record.attributes) > limits.max_attributes:
                    batch.reject(f"a log record with {len(record.attributes)} attributes")
                    continue
                time = record.time_unix_nano or record.observed_time_unix_nano
                batch.records.append(
                    LogRecord(
                        record.event_name,
                        _attributes(record.attributes, limits),
                        time / _NANOSECONDS or None,
                    )
                )
                batch.record_resources.append(len(batch.resources) - 1)
    return batch


def _span(
    batch: Batch, span: Span, scope: str, limits: Limits, *, bare: bool
) -> RecordedSpan | None:
    trace, own = span.trace_id, span.span_id
    fits = len(trace) == _TRACE_ID_BYTES and len(own) == _SPAN_ID_BYTES
    trace_id, span_id = (int.from_bytes(trace), int.from_bytes(own)) if fits else (0, 0)
    pairs = span.attributes
    reason = flaw(trace_id, span_id, len(pairs), limits)
    if reason:
        batch.reject(reason)
        return None
    status = span.status
    return RecordedSpan(
        name=span.name,
        scope=scope,
        trace_id=trace_id,
        span_id=span_id,
        parent_id=int.from_bytes(span.parent_span_id) or None,
        attributes={} if bare else _attributes(pairs, limits),
        events=()
        if bare or not span.events
        else [SpanEvent(e.name, _attributes(e.attributes, limits)) for e in span.events],
        is_error=_STATUS.get(status.code),
        status_text=status.message,
        start=span.start_time_unix_nano / _NANOSECONDS,
        end=span.end_time_unix_nano / _NANOSECONDS or None,
    )


def _attributes(pairs: Iterable[KeyValue], limits: Limits) -> dict[str, Any]:
    longest = limits.max_attribute_chars
    read: dict[str, Any] = {}
    for pair in pairs:
        value = pair.value
        text = value.string_value
        if not text:
            read[pair.key] = _value(value)
        elif len(text) <= longest:
            read[pair.key] = text
    return read


def _value(value: AnyValue) -> Any:
    """Return a value as its JSON form would be read."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _value(pair.value) for pair in value.kvlist_value.values}
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    return getattr(value, kind)
