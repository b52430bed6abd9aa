"""A correction, and what came of it, as OTLP requests: in its agent's trace, of its resource."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from otel_watchdog import semconv
from otel_watchdog.model import Correction, Mode, Outcome, Tier
from otel_watchdog.otlp import Recorded
from otel_watchdog.span_attributes import correction_attributes, outcome_attributes
from otel_watchdog.version import VERSION

_NANOSECONDS: Final = 1_000_000_000


def correction_request(
    correction: Correction, judged: Recorded, resource: Mapping[str, Any]
) -> bytes:
    """Return a trace request with the correction's span, as protobuf.

    The span stands beside the one that was judged, below the same parent; it is never a root.
    Beside a log record it stands in the span in which that was written; one of no trace has a trace
    of ours for each session. Its id follows from the correction's, so that a request that is sent
    twice is one span.

    Args:
        correction: What was decided.
        judged: The span or log record that completed the pattern.
        resource: Attributes of its resource.
    """
    at = judged.end or judged.start
    span = _span(judged, correction, correction.id, correction_attributes(correction), at)
    span.name = correction.span_name
    if correction.tier >= Tier.HARD_STOP and correction.mode is not Mode.OBSERVE:
        span.status.code = Status.STATUS_CODE_ERROR
        span.status.message = correction.finding.reason
    return _request(span, resource)


def outcome_request(
    outcome: Outcome, judged: Recorded, resource: Mapping[str, Any], *, at: float
) -> bytes:
    """Return a trace request with the span of what came of a correction, linked to that's span.

    Args:
        outcome: What the agent did.
        judged: The span or log record that the correction was made for.
        resource: Attributes of its resource.
        at: When it was known, in seconds since the epoch.
    """
    id_ = outcome.correction.id
    own_id = f"{id_}/{outcome.turn}"
    span = _span(judged, outcome.correction, own_id, outcome_attributes(outcome), at)
    span.name = outcome.span_name
    link = span.links.add()
    link.trace_id = span.trace_id
    link.span_id = _id(id_, 8)
    return _request(span, resource)


def _span(
    judged: Recorded, correction: Correction, id_: str, attributes: Mapping[str, Any], at: float
) -> Span:
    """Return a span of ours beside what was judged."""
    copied = {key: judged.attributes[key] for key in semconv.COPIED if key in judged.attributes}
    nanoseconds = int(at * _NANOSECONDS)
    parent = judged.parent_id or judged.span_id
    return Span(
        trace_id=judged.trace_id.to_bytes(16) if judged.trace_id else _id(correction.session, 16),
        span_id=_id(id_, 8),
        parent_span_id=parent.to_bytes(8) if parent else b"",
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=nanoseconds,
        end_time_unix_nano=nanoseconds,
        attributes=_pairs({**attributes, **copied}),
        flags=1,
    )


def _id(name: str, size: int) -> bytes:
    """Return the id, of so many bytes, of what stands for something: always the same."""
    return hashlib.blake2b(name.encode(), digest_size=size).digest()


def _request(span: Span, resource: Mapping[str, Any]) -> bytes:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(_pairs(resource))
    part = group.scope_spans.add()
    part.scope.name = semconv.SCOPE
    part.scope.version = VERSION
    part.spans.append(span)
    return request.SerializeToString()


def _pairs(attributes: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_value(value)) for key, value in attributes.items()]


def _value(value: Any) -> AnyValue:
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        made = AnyValue()
        made.array_value.values.extend(_value(item) for item in value)
        return made
    if isinstance(value, Mapping):
        made = AnyValue()
        made.kvlist_value.values.extend(_pairs(value))
        return made
    return AnyValue() if value is None else AnyValue(string_value=str(value))
