"""A trace that Langfuse has stored, as a recording that can be replayed."""

import hashlib
import io
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, Final

import orjson

from otel_watchdog import semconv
from otel_watchdog.errors import InputError
from otel_watchdog.reviews.langfuse.client import told

SCOPE: Final = "langfuse-sdk"
"""Whose spans stored observations look like."""

_FIELDS: Final = "core,basic,time,io,metadata,model,usage,trace_context"
_PAGE: Final = 100
_SPAN_ID: Final = 16
_TRACE_ID: Final = 32
_OWN: Final = ("attributes", "resourceAttributes", "scope")
"""Metadata that Langfuse made of attributes it has no other place for."""


class _Recording(io.BytesIO):
    name = ""


def stored_trace(langfuse: Any, trace_id: str) -> BinaryIO:
    """Return a stored trace as OTLP/JSON, for `otel_watchdog.replay.read`.

    Corrections in it are left out: a replay makes its own.

    Args:
        langfuse: A client of `langfuse`, version 4 or 5.
        trace_id: The trace's id.

    Raises:
        InputError: There is no such trace, or Langfuse refused or could not be reached.
    """
    with told(f"langfuse:{trace_id}"):
        spans = [
            _span(seen)
            for seen in observations(langfuse, trace_id=trace_id)
            if not (seen.type == "GUARDRAIL" and str(seen.name).startswith("watchdog-"))
        ]
    if not spans:
        raise InputError(f"langfuse:{trace_id}: there is no such trace")
    scoped = {"scope": {"name": SCOPE}, "spans": spans}
    recording = _Recording(orjson.dumps({"resourceSpans": [{"scopeSpans": [scoped]}]}))
    recording.name = f"langfuse:{trace_id}"
    return recording


def observations(langfuse: Any, **filters: Any) -> Iterator[Any]:
    """Yield stored observations, with all that they hold.

    Args:
        langfuse: A client.
        **filters: As for the SDK's `api.observations.get_many`.
    """
    cursor = None
    while True:
        answer = langfuse.api.observations.get_many(
            fields=_FIELDS, limit=_PAGE, cursor=cursor, **filters
        )
        yield from answer.data
        cursor = getattr(answer.meta, "cursor", None)
        if not cursor:
            return


def _span(seen: Any) -> dict[str, Any]:
    parent = seen.parent_observation_id
    return {
        "traceId": _hex(seen.trace_id or "", _TRACE_ID),
        "spanId": _hex(seen.id, _SPAN_ID),
        "parentSpanId": _hex(parent, _SPAN_ID) if parent else "",
        "name": seen.name or "",
        "startTimeUnixNano": _nanoseconds(seen.start_time),
        "endTimeUnixNano": _nanoseconds(seen.end_time or seen.start_time),
        "attributes": [_pair(key, value) for key, value in _attributes(seen).items()],
        "status": {"code": 2 if _word(seen.level) == "ERROR" else 0},
    }


def _attributes(seen: Any) -> dict[str, Any]:
    usage = seen.usage_details or {}
    facts = {
        semconv.LANGFUSE_OBSERVATION_TYPE: seen.type.lower(),
        semconv.LANGFUSE_OBSERVATION_INPUT: _text(seen.input),
        semconv.LANGFUSE_OBSERVATION_OUTPUT: _text(seen.output),
        semconv.LANGFUSE_OBSERVATION_LEVEL: _word(seen.level),
        semconv.LANGFUSE_OBSERVATION_STATUS_MESSAGE: seen.status_message,
        semconv.LANGFUSE_MODEL_NAME: seen.model,
        semconv.LANGFUSE_SESSION_ID: seen.session_id,
        semconv.GEN_AI_USAGE_INPUT_TOKENS: usage.get("input"),
        semconv.GEN_AI_USAGE_OUTPUT_TOKENS: usage.get("output"),
        semconv.LANGFUSE_COST_DETAILS: _text(getattr(seen, "cost_details", None) or None),
    }
    metadata = seen.metadata if isinstance(seen.metadata, Mapping) else {}
    for key, value in metadata.items():
        if key not in _OWN:
            facts[f"{semconv.LANGFUSE_OBSERVATION_METADATA}.{key}"] = _text(value)
    return {key: value for key, value in facts.items() if value not in (None, "")}


def _pair(key: str, value: Any) -> dict[str, Any]:
    kept = {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}
    return {"key": key, "value": kept}


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()


def _word(level: Any) -> str | None:
    return None if level is None else str(getattr(level, "value", level))


def _nanoseconds(at: datetime) -> str:
    return str(int(at.timestamp() * 1_000_000) * 1000)


def _hex(id_: str, length: int) -> str:
    """Return an id as OTLP has it; one that was made up by hand becomes one of the right form."""
    if len(id_) == length and set(id_) <= set("0123456789abcdef"):
        return id_
    return hashlib.blake2b(id_.encode(), digest_size=length // 2).hexdigest()
