"""OTLP/JSON, read span by span, so that one bad span does not take the others along."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from otel_watchdog import otlp
from otel_watchdog.errors import InputError
from otel_watchdog.spans import LogRecord, RecordedSpan
from otel_watchdog_collector.wire.batch import Batch, Limits, PlainNames, Resource, flaw

_TRACE_ID_DIGITS: Final = 32
_SPAN_ID_DIGITS: Final = 16


def read_traces(body: bytes, limits: Limits, plain: PlainNames) -> Batch:  # noqa: ARG001 - parsed already
    """Read a trace request.

    Raises:
        InputError: It is none.
    """
    batch = Batch()
    for group in _objects(_parsed(body), "resourceSpans"):
        index = _add_resource(batch, group)
        for part in _objects(group, "scopeSpans"):
            scope = otlp.scope_name(part, place="scopeSpans")
            for given in _objects(part, "spans"):
                span = _span(batch, given, scope, limits)
                if span is not None:
                    batch.spans.append(span)
                    batch.resource_of.append(index)
    return batch


def read_logs(body: bytes, limits: Limits) -> Batch:
    """Read a log request.

    Raises:
        InputError: It is none.
    """
    batch = Batch()
    for group in _objects(_parsed(body), "resourceLogs"):
        index = _add_resource(batch, group)
        for part in _objects(group, "scopeLogs"):
            scope = otlp.scope_name(part, place="scopeLogs")
            for given in _objects(part, "logRecords"):
                record = _record(batch, given, scope, limits)
                if record is not None:
                    batch.records.append(record)
                    batch.record_resources.append(index)
    return batch


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InputError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"an OTLP request must be an object, got {type(value).__name__}")
    return value


def _objects(parent: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    items = parent.get(name)
    if items is None:
        return
    if not isinstance(items, list):
        raise InputError(f"{name} must be a list, got {type(items).__name__}")
    for item in items:
        if not isinstance(item, dict):
            raise InputError(f"{name} must hold objects, got {type(item).__name__}")
        yield item


def _add_resource(batch: Batch, group: Mapping[str, Any]) -> int:
    resource = group.get("resource") or {}
    try:
        attributes = otlp.attributes_of(resource.get("attributes"))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"not an OTLP resource: {error!r}") from None
    batch.resources.append(Resource(attributes))
    return len(batch.resources) - 1


def _span(
    batch: Batch, given: Mapping[str, Any], scope: str, limits: Limits
) -> RecordedSpan | None:
    pairs = given.get("attributes") or ()
    try:
        fits = len(given["traceId"]) == _TRACE_ID_DIGITS and len(given["spanId"]) == _SPAN_ID_DIGITS
        ids = (int(given["traceId"], 16), int(given["spanId"], 16)) if fits else (0, 0)
        reason = flaw(*ids, len(pairs), limits)
        span = None if reason else otlp.span_of(given, scope)
    except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
        reason, span = f"not an OTLP span: {error}", None
    if span is None:
        batch.reject(reason)
        return None
    span.attributes = _shortened(span.attributes, limits)
    return span


def _record(batch: Batch, given: Mapping[str, Any], scope: str, limits: Limits) -> LogRecord | None:
    try:
        record = otlp.log_of(given, scope)
    except InputError as error:
        batch.reject(str(error))
        return None
    if len(record.attributes) > limits.max_attributes:
        batch.reject(f"a log record with {len(record.attributes)} attributes")
        return None
    record.attributes = _shortened(record.attributes, limits)
    if isinstance(record.body, str) and len(record.body) > limits.max_attribute_chars:
        record.body = None
    return record


def _shortened(attributes: Mapping[str, Any], limits: Limits) -> Mapping[str, Any]:
    """Leave out texts that are too long: what was not captured equals nothing."""
    longest = limits.max_attribute_chars
    if any(isinstance(value, str) and len(value) > longest for value in attributes.values()):
        return {
            key: value
            for key, value in attributes.items()
            if not (isinstance(value, str) and len(value) > longest)
        }
    return attributes
