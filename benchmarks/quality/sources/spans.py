"""Spans as events, read by the product's own dialects."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from benchmarks.quality.sources.events import Event, answered, asked, called, said
from otel_watchdog.model import (
    ModelTurn,
    Observation,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.otlp import SpanStream
from otel_watchdog.spans import RecordedSpan

_DURATION: Final = re.compile(r"P(?:T)?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?")
_FAILED: Final = {ToolOutcome.ERROR: True, ToolOutcome.OK: False}


def spans_of(tree: Iterable[Mapping[str, Any]]) -> Iterator[RecordedSpan]:
    """Yield the spans of a tree as Patronus writes it, each before those inside it."""
    for span in tree:
        start = dt.datetime.fromisoformat(span["timestamp"]).timestamp()
        yield RecordedSpan(
            name=span["span_name"],
            scope=span["scope_name"],
            trace_id=int(span["trace_id"], 16),
            span_id=int(span["span_id"], 16),
            parent_id=int(span["parent_span_id"], 16) if span.get("parent_span_id") else None,
            attributes=span["span_attributes"],
            is_error={"Error": True, "Ok": False}.get(span["status_code"]),
            status_text=span.get("status_message") or "",
            start=start,
            end=start + seconds(span["duration"]),
        )
        yield from spans_of(span["child_spans"])


def seconds(duration: str) -> float:
    """Return a duration of ISO 8601 in seconds.

    >>> seconds("PT1M48.5S"), seconds("PT0.25S")
    (108.5, 0.25)
    """
    found = _DURATION.fullmatch(duration)
    if found is None:
        raise ValueError(f"a duration must be as in PT1M2.5S, got {duration!r}")
    hours, minutes, rest = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + rest


def events_of(spans: Sequence[RecordedSpan]) -> tuple[list[Event], dict[str, int]]:
    """Return what a trace's spans tell as events, and the turn of each span by its id."""
    agents: dict[str, str] = {}
    events: list[Event] = []
    turns: dict[str, int] = {}
    for index, told in SpanStream().observe(spans):
        for one in told:
            if isinstance(one, RunStarted):
                agents[one.session] = one.agent or one.session
            elif (event := _event(one)) is not None:
                events.append({**event, "agent": agents.get(one.session), "t": one.time})
                turns[f"{spans[index].span_id:016x}"] = one.turn
    return events, turns


def _event(seen: Observation) -> Event | None:
    if isinstance(seen, ModelTurn):
        return said(seen.turn, seen.text)
    if isinstance(seen, ToolCall):
        return called(seen.turn, seen.name, seen.arguments, seen.call_id)
    if isinstance(seen, ToolResult):
        text = seen.error if seen.result is None else seen.result
        failed = _FAILED.get(seen.outcome)
        return answered(seen.turn, seen.name, text, seen.call_id, error=failed)
    return asked(seen.turn, seen.text) if isinstance(seen, UserMessage) else None
