"""OTLP protobuf; only attributes that are asked for are touched."""

from typing import Any, Final

from google.protobuf.message import DecodeError

from otel_watchdog.errors import InputError
from otel_watchdog.otlp_messages import Attributes, LogsRequest, TraceRequest, log_of, span_of
from otel_watchdog.spans import RecordedSpan
from otel_watchdog_collector.wire.batch import Batch, Limits, PlainNames, Resource, flaw

_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8


def read_traces(body: bytes, limits: Limits, plain: PlainNames) -> Batch:
    """Read a trace request.

    Raises:
        InputError: It is none.
    """
    try:
        request = TraceRequest.FromString(body)
    except DecodeError as error:
        raise InputError(f"not an OTLP trace request in protobuf: {error}") from None
    batch = Batch()
    for group in request.resource_spans:
        batch.resources.append(_resource(group, limits))
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
        request = LogsRequest.FromString(body)
    except DecodeError as error:
        raise InputError(f"not an OTLP log request in protobuf: {error}") from None
    batch = Batch()
    for group in request.resource_logs:
        batch.resources.append(_resource(group, limits))
        for part in group.scope_logs:
            for record in part.log_records:
                if len(record.attributes) > limits.max_attributes:
                    batch.reject(f"a log record with {len(record.attributes)} attributes")
                    continue
                scope, longest = part.scope.name, limits.max_attribute_chars
                batch.records.append(log_of(record, scope, longest=longest))
                batch.record_resources.append(len(batch.resources) - 1)
    return batch


def _resource(group: Any, limits: Limits) -> Resource:
    """Return who sent a group; it is kept longer than the request, so all of it is read."""
    return Resource(dict(Attributes(group.resource.attributes, limits.max_attribute_chars)))


def _span(
    batch: Batch, span: Any, scope: str, limits: Limits, *, bare: bool
) -> RecordedSpan | None:
    fits = len(span.trace_id) == _TRACE_ID_BYTES and len(span.span_id) == _SPAN_ID_BYTES
    read = span_of(span, scope, longest=limits.max_attribute_chars, bare=bare)
    trace_id, span_id = (read.trace_id, read.span_id) if fits else (0, 0)
    reason = flaw(trace_id, span_id, len(span.attributes), limits)
    if reason:
        batch.reject(reason)
        return None
    return read
