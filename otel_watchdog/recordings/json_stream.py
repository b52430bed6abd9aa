"""JSON objects of any size, read in parts: the spans of a request come one by one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import ijson

from otel_watchdog import otlp
from otel_watchdog.errors import InputError
from otel_watchdog.otlp import Recorded
from otel_watchdog.recordings.observation_lines import RecordedRun, run_of
from otel_watchdog.recordings.source import Source

MAX_DEPTH: Final = 512
"""Levels of objects and arrays inside each other."""

MAX_WAITING_SPANS: Final = 50_000
"""Spans of one scope that are kept until the scope's name comes, where it stands after them."""


class _Form(NamedTuple):
    """How a request's objects are called, level by level; the first name is the usual one."""

    request: tuple[str, ...]
    resource: tuple[str, ...]
    items: tuple[str, ...]
    read: Callable[..., Recorded]


_SPANS: Final = _Form(
    ("resourceSpans", "resource_spans"),
    ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
    ("spans",),
    otlp.span_of,
)
_LOGS: Final = _Form(
    ("resourceLogs", "resource_logs"),
    ("scopeLogs", "scope_logs"),
    ("logRecords", "log_records"),
    otlp.log_of,
)
_FORMS: Final = {name: form for form in (_SPANS, _LOGS) for name in form.request}
_SCOPE: Final = ("scope", "instrumentationLibrary")
_OTHERS: Final = {"resourceMetrics": "metrics"}
_CHUNK: Final = 64 * 1024

Event = tuple[str, Any]
Events = Iterator[Event]
Reader = Callable[[Events, str, _Form], Iterator[Recorded]]


def is_request(document: Mapping[str, Any]) -> bool:
    """Say whether an object is an OTLP request; false: it holds a run's events.

    Raises:
        InputError: It is neither.
    """
    if any(name in document for name in _FORMS):
        return True
    if "events" in document:
        return False
    for name, what in _OTHERS.items():
        if name in document:
            raise InputError(
                f"{name}: these are OTLP {what}; traces and logs are read (resourceSpans, "
                "resourceLogs)"
            )
    names = ", ".join(repr(str(name)[:40]) for name in list(document)[:5]) or "none"
    raise InputError(
        f"must have resourceSpans (OTLP) or events (observation lines), its names are: {names}"
    )


def read(source: Source) -> Iterator[Recorded | RecordedRun]:
    """Yield spans, log records and runs of the JSON objects in `source`, one after the other.

    Raises:
        InputError: What is there is no JSON, or has the wrong shape.
    """
    events = _Events(source)
    try:
        for number, event in enumerate(events, start=1):
            yield from _document(event, events, number)
    except InputError as error:
        source.check()
        raise InputError(f"{source.name}: {error}") from None


class _Events:
    """What ijson tells of, with errors that name the place."""

    def __init__(self, source: Source) -> None:
        self._read = 0
        self._source = source
        self._events = ijson.basic_parse(
            self, use_float=True, multiple_values=True, buf_size=_CHUNK
        )
        self.place = ""
        """Where the last whole part stood."""

    def read(self, size: int = -1) -> bytes:
        """Return bytes, for ijson."""
        part = self._source.bytes.read(size)
        if not self._read:
            part = part.removeprefix(b"\xef\xbb\xbf")
        self._read += len(part)
        return part

    def __iter__(self) -> Events:
        return self

    def __next__(self) -> Event:
        try:
            event: Event = next(self._events)
        except ijson.JSONError as error:
            said = error.args[0] if error.args else ""
            said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
            after = f" after {self.place}" if self.place else ""
            why = (said.splitlines() or [""])[0].removesuffix(".")
            raise InputError(f"before byte {self._read}{after}: not JSON: {why}") from None
        return event


def _document(event: Event, events: Any, number: int) -> Iterator[Recorded | RecordedRun]:
    if event[0] != "start_map":
        raise InputError(f"before byte {events._read}: must be a JSON object")  # noqa: SLF001 - its own module
    document: dict[str, Any] = {}
    for key in _keys(events):
        first = next(events)
        form = _FORMS.get(key)
        if form is not None and first[0] == "start_array":
            document[key] = None
            yield from _objects(events, form.request[0], _resource, form)
        else:
            document[key] = _value(first, events)
    if not is_request(document):
        yield run_of(document, number)
    for name, form in _FORMS.items():
        if document.get(name) is not None:
            raise InputError(f"{form.request[0]}: must be a list of objects")


def _resource(events: Any, place: str, form: _Form) -> Iterator[Recorded]:
    for key in _keys(events):
        first = next(events)
        if key not in form.resource or first[0] == "null":
            _value(first, events)
        elif first[0] == "start_array":
            yield from _objects(events, f"{place}.{form.resource[0]}", _scope, form)
        else:
            raise InputError(f"{place}.{key}: must be a list of objects")


def _scope(events: Any, place: str, form: _Form) -> Iterator[Recorded]:
    scope: str | None = None
    waiting: list[Any] = []
    for key in _keys(events):
        first = next(events)
        if key in _SCOPE:
            scope = otlp.scope_name({"scope": _value(first, events)}, place=place)
        elif key not in form.items or first[0] == "null":
            _value(first, events)
        elif first[0] != "start_array":
            raise InputError(f"{place}.{form.items[0]}: must be a list of objects")
        elif scope is None:
            waiting = _waiting(events, place, form)
        else:
            for at, item in _items(events, place, form):
                yield form.read(item, scope, place=at)
    for s, item in enumerate(waiting):
        yield form.read(item, scope or "", place=f"{place}.{form.items[0]}[{s}]")


def _waiting(events: Any, place: str, form: _Form) -> list[Any]:
    """Keep spans that stand before their scope."""
    waiting: list[Any] = []
    for at, span in _items(events, place, form):
        if len(waiting) >= MAX_WAITING_SPANS:
            raise InputError(f"{at}: `scope` must stand before so many spans")
        waiting.append(span)
    return waiting


def _items(events: Any, place: str, form: _Form) -> Iterator[tuple[str, Any]]:
    for s, first in enumerate(_elements(events)):
        at = f"{place}.{form.items[0]}[{s}]"
        span = _value(first, events)
        if not isinstance(span, dict):
            raise InputError(f"{at}: must be an object, got {type(span).__name__}")
        yield at, span
        events.place = at


def _objects(events: Any, place: str, read_object: Reader, form: _Form) -> Iterator[Recorded]:
    for index, (kind, _) in enumerate(_elements(events)):
        at = f"{place}[{index}]"
        if kind != "start_map":
            raise InputError(f"{at}: must be an object")
        yield from read_object(events, at, form)
        events.place = at


def _keys(events: Events) -> Iterator[str]:
    """Yield an object's keys; the caller takes each value."""
    for kind, key in events:
        if kind == "end_map":
            return
        yield key


def _elements(events: Events) -> Iterator[Event]:
    """Yield the first event of an array's elements; the caller takes the rest of each."""
    for event in events:
        if event[0] == "end_array":
            return
        yield event


def _value(first: Event, events: Events) -> Any:
    """Build a value; without recursion, for it comes from strangers."""
    kind, value = first
    if kind not in {"start_map", "start_array"}:
        return value
    built: Any = {} if kind == "start_map" else []
    stack: list[tuple[Any, Any]] = [(built, None)]
    for kind, value in events:
        holder, key = stack[-1]
        if kind == "map_key":
            stack[-1] = (holder, value)
            continue
        if kind in {"end_map", "end_array"}:
            stack.pop()
            if not stack:
                break
            continue
        item = {} if kind == "start_map" else [] if kind == "start_array" else value
        if isinstance(holder, dict):
            holder[key] = item
        else:
            holder.append(item)
        if kind in {"start_map", "start_array"}:
            if len(stack) >= MAX_DEPTH:
                raise InputError(f"nested deeper than {MAX_DEPTH} levels")
            stack.append((item, None))
    return built
