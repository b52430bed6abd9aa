"""Recorded spans in OTLP form as plain spans, in the order in which they happened.

Knows no OpenTelemetry package: OTLP/JSON is read as parsed JSON, protobuf as the same mapping.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from otel_watchdog import instrumentations
from otel_watchdog.errors import InputError
from otel_watchdog.model import Observation
from otel_watchdog.scopes import Scopes
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import LogRecord, Reading, RecordedSpan, SpanEvent

_NANOSECONDS: Final = 1e9
_WRONG_SHAPES: Final = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    RecursionError,
)
_ERROR_CODES: Final = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})
_OK_CODES: Final = frozenset({1, "1", "STATUS_CODE_OK", "OK"})


Recorded: TypeAlias = RecordedSpan | LogRecord


class SpanStream:
    """Feeds recorded spans to dialects and sessions as if they happened now.

    Args:
        scopes: Which dialects read which spans; default: all that are built in.
        sessions: Default: ones that are never forgotten while the recording lasts.
    """

    def __init__(self, scopes: Scopes | None = None, sessions: Sessions | None = None) -> None:
        self.scopes = scopes if scopes is not None else Scopes()
        self.sessions = sessions or Sessions(self._read, max_sessions=100_000, ttl_seconds=1e9)

    def observe(self, spans: Sequence[Recorded]) -> Iterator[tuple[int, list[Observation]]]:
        """Yield what each ended span adds, with the span's index in `spans`.

        Spans are opened in the order of their starts and closed in the order of their ends,
        whatever their order in the recording.
        """
        for index, opens in in_order(spans):
            if opens:
                self.open(spans[index])
            else:
                yield index, self.close(spans[index])

    def open(self, span: Recorded) -> None:
        """Take note of a span that begins."""
        if isinstance(span, LogRecord):
            return
        self.sessions.open(span.span_id, span.parent_id, span)

    def close(self, span: Recorded) -> list[Observation]:
        """Return what a span that ends, or a log record, adds."""
        if isinstance(span, LogRecord):
            read = self.scopes.read_log(span)
            return self.sessions.observe_log(span, read) if read is not None else []
        reading = self._read(span)
        node = self.sessions.close(span.span_id, span.parent_id)
        return self.sessions.observe(node, span, reading)

    def _read(self, span: RecordedSpan) -> Reading | None:
        return self.scopes.read(self.scopes[span.scope], span)


def in_order(spans: Sequence[Recorded]) -> Iterator[tuple[int, bool]]:
    """Yield indices of spans in the order of what happened: true as one opens, false as it ends.

    At one moment what ends comes before what begins, except for a span's own beginning; spans
    that end together end from the inside out, spans that begin together begin from the outside
    in, the longest first. A span opens while its parent is open, whatever their clocks say: some
    count whole milliseconds.
    """
    by_id = {span.span_id: span for span in spans if isinstance(span, RecordedSpan)}
    starts: dict[int, tuple[float, int]] = {}
    moments: list[tuple[float, int, int, float, int]] = []
    for index, span in enumerate(spans):
        if isinstance(span, LogRecord):
            written, what = _written(span, by_id)
            moments.append((written, what, _FIRST, 0, index))
            continue
        start, depth = _start(span, by_id, starts)
        end = span.end if span.end is not None else float("inf")
        parent = by_id.get(span.parent_id) if span.parent_id is not None else None
        last = parent.end if parent is not None else None
        if last is not None and start >= last > span.start - _DRIFT_SECONDS:
            start, begins = last, _LATE
        else:
            begins = _BEGINS
        moments.append((start, begins, depth, -end, index))
        if last is not None and last < end < last + _TICK_SECONDS:
            end = last
        ends = _AT_ONCE if end <= start and begins == _BEGINS else _ENDS
        moments.append((max(end, start), ends, -depth, 0, index))
    moments.sort()
    for moment, what, _, _, index in moments:
        if what in {_BEGINS, _LATE}:
            yield index, True
        elif moment != float("inf"):
            yield index, False


_LATE, _LOG, _ENDS, _BEGINS, _AT_ONCE = range(5)
"""What happens at one moment, in order."""
_TICK_SECONDS: Final = 0.005
"""A span that ends no later than this after its parent counts as ended before it."""
_DRIFT_SECONDS: Final = 1.0
"""A span that begins no later than this after its parent's end counts as begun before it."""


_FIRST: Final = -1_000_000


def _written(log: LogRecord, by_id: Mapping[int, RecordedSpan]) -> tuple[float, int]:
    """Return when a log record was written, which is while its span is open."""
    around = by_id.get(log.parent_id) if log.parent_id is not None else None
    if around is None:
        return log.start, _LOG
    if log.start <= around.start:
        return around.start, _AT_ONCE
    return min(log.start, around.end if around.end is not None else log.start), _LOG


def _start(
    span: RecordedSpan,
    by_id: Mapping[int, RecordedSpan],
    starts: dict[int, tuple[float, int]],
) -> tuple[float, int]:
    """Return when a span opens, not before its parent, and how deep it stands."""
    chain: list[RecordedSpan] = []
    above: RecordedSpan | None = span
    while above is not None and above.span_id not in starts:
        starts[above.span_id] = (above.start, 0)  # a span that is its own ancestor ends the chain
        chain.append(above)
        above = by_id.get(above.parent_id) if above.parent_id is not None else None
    start, depth = starts[above.span_id] if above is not None else (float("-inf"), -1)
    for inner in reversed(chain):
        start, depth = max(start, inner.start), depth + 1
        starts[inner.span_id] = (start, depth)
    return starts[span.span_id]


def spans_of(request: Mapping[str, Any]) -> Iterator[RecordedSpan]:
    """Yield the spans of one OTLP/JSON trace request.

    Raises:
        InputError: The request or one of its spans has the wrong shape; the message names the
            place in it.
    """
    for r, resource in enumerate(_items(request, "resourceSpans", "resource_spans", place="")):
        at = f"resourceSpans[{r}]"
        groups = _items(
            resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans", place=at
        )
        for g, group in enumerate(groups):
            inner = f"{at}.scopeSpans[{g}]"
            scope = scope_name(group, place=inner)
            for s, span in enumerate(_items(group, "spans", place=inner)):
                yield span_of(span, scope, place=f"{inner}.spans[{s}]")


def logs_of(request: Mapping[str, Any]) -> Iterator[LogRecord]:
    """Yield the log records of one OTLP/JSON logs request.

    Raises:
        InputError: The request or one of its records has the wrong shape; the message names the
            place in it.
    """
    for r, resource in enumerate(_items(request, "resourceLogs", "resource_logs", place="")):
        at = f"resourceLogs[{r}]"
        for g, group in enumerate(_items(resource, "scopeLogs", "scope_logs", place=at)):
            inner = f"{at}.scopeLogs[{g}]"
            scope = scope_name(group, place=inner)
            for s, log in enumerate(_items(group, "logRecords", "log_records", place=inner)):
                yield log_of(log, scope, place=f"{inner}.logRecords[{s}]")


def log_of(log: Mapping[str, Any], scope: str, *, place: str = "log record") -> LogRecord:
    """Return one OTLP/JSON log record.

    Raises:
        InputError: It has the wrong shape.
    """
    try:
        attributes = attributes_of(log.get("attributes"))
        named = attributes.get(instrumentations.EVENT_NAME)
        name = named or log.get("eventName") or log.get("event_name")
        written = _seconds(log.get("timeUnixNano", log.get("time_unix_nano")))
        seen = _seconds(log.get("observedTimeUnixNano", log.get("observed_time_unix_nano")))
        return LogRecord(
            name=str(name or ""),
            scope=scope,
            trace_id=int(log.get("traceId", log.get("trace_id")) or "0", 16),
            parent_id=int(log.get("spanId", log.get("span_id")) or "0", 16) or None,
            attributes=attributes,
            body=value_of(log.get("body")),
            start=written or seen or 0.0,
        )
    except _WRONG_SHAPES as error:
        raise InputError(f"{place}: not an OTLP log record: {error!r}") from None


def scope_name(group: Mapping[str, Any], *, place: str) -> str:
    """Return the name of the instrumentation scope of a group of spans.

    Raises:
        InputError: The scope has the wrong shape.
    """
    scope = group.get("scope") or group.get("instrumentationLibrary") or {}
    if not isinstance(scope, Mapping):
        raise InputError(f"{place}.scope: must be an object, got {type(scope).__name__}")
    return str(scope.get("name", ""))


def span_of(span: Mapping[str, Any], scope: str, *, place: str = "span") -> RecordedSpan:
    """Return one OTLP/JSON span.

    Raises:
        InputError: It has the wrong shape.
    """
    try:
        status = span.get("status") or {}
        code = status.get("code", 0)
        end = _seconds(span.get("endTimeUnixNano", span.get("end_time_unix_nano")))
        return RecordedSpan(
            name=str(span.get("name", "")),
            scope=scope,
            trace_id=int(span.get("traceId", span.get("trace_id")) or "0", 16),
            span_id=int(span["spanId"] if "spanId" in span else span["span_id"], 16),
            parent_id=int(span.get("parentSpanId", span.get("parent_span_id")) or "0", 16) or None,
            attributes=attributes_of(span.get("attributes")),
            events=[
                SpanEvent(str(event.get("name", "")), attributes_of(event.get("attributes")))
                for event in span.get("events") or ()
            ],
            is_error=True if code in _ERROR_CODES else False if code in _OK_CODES else None,
            status_text=str(status.get("message", "")),
            start=_seconds(span.get("startTimeUnixNano", span.get("start_time_unix_nano"))) or 0.0,
            end=end,
        )
    except _WRONG_SHAPES as error:
        raise InputError(f"{place}: not an OTLP span: {error!r}") from None


def attributes_of(pairs: Iterable[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return a list of OTLP key-value pairs as a mapping."""
    return {str(pair["key"]): value_of(pair.get("value")) for pair in pairs or ()}


def value_of(value: Mapping[str, Any] | None) -> Any:
    """Return an OTLP `AnyValue` as a plain value.

    >>> value_of({"arrayValue": {"values": [{"intValue": "3"}, {"stringValue": "a"}]}})
    [3, 'a']
    """
    if not value:
        return None
    kind, inner = next(iter(value.items()))
    if kind in {"intValue", "int_value"}:
        return int(inner)
    if kind in {"doubleValue", "double_value"}:
        return float(inner)
    if kind in {"arrayValue", "array_value"}:
        return [value_of(item) for item in (inner or {}).get("values", ())]
    if kind in {"kvlistValue", "kvlist_value"}:
        return attributes_of((inner or {}).get("values"))
    return inner


def _items(parent: Mapping[str, Any], *names: str, place: str) -> Sequence[Mapping[str, Any]]:
    for name in names:
        items = parent.get(name)
        if items is None:
            continue
        if isinstance(items, list) and all(isinstance(item, Mapping) for item in items):
            return items
        where = f"{place}.{name}" if place else name
        raise InputError(f"{where}: must be a list of objects, got {type(items).__name__}")
    return ()


def _seconds(nanoseconds: object) -> float | None:
    if nanoseconds in (None, "", 0, "0"):
        return None
    return int(str(nanoseconds)) / _NANOSECONDS
