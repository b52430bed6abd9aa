"""OTLP requests as protobuf, read span by span, log by log: one, or a sequence with lengths."""

from collections.abc import Iterator
from typing import Final

from google.protobuf.message import DecodeError

from otel_watchdog import otlp_messages
from otel_watchdog.errors import InputError
from otel_watchdog.recordings.source import Source
from otel_watchdog.spans import LogRecord, RecordedSpan

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one span or scope; more is taken for damage."""

MAX_WAITING_BYTES: Final = MAX_MESSAGE_BYTES
"""Bytes of spans that are kept until their scope comes, where it stands after them."""

_CHUNK: Final = 256 * 1024
_VARINT, _FIXED_64, _LENGTH, _FIXED_32 = 0, 1, 2, 5
_MAX_VARINT_BYTES: Final = 10
_MAX_PREFIX_BYTES: Final = 4

_FIRST_TAG: Final = 1 << 3 | _LENGTH
"""What a request begins with: the tag of its only field."""

_LOG_TAGS: Final = frozenset({1 << 3 | _FIXED_64, 11 << 3 | _FIXED_64, 2 << 3 | _VARINT})
"""What a log record begins with, and no span: its times, its severity."""


def read(source: Source) -> Iterator[RecordedSpan | LogRecord]:
    """Yield the spans, or log records, of one request, or of several that each follow their length.

    A length is a varint, as protobuf's libraries write it, or four bytes with the highest first,
    as the OpenTelemetry Collector's file exporter does.

    Raises:
        InputError: It is no such thing, or was cut.
    """
    wire = _Wire(source)
    head = source.head
    if head[0] == _FIRST_TAG:
        yield from _request(wire, None)
        return
    source.is_sequence = True
    fixed = head[0] == 0 and head[_MAX_PREFIX_BYTES : _MAX_PREFIX_BYTES + 1] == bytes([_FIRST_TAG])
    while not wire.at_end():
        size = int.from_bytes(wire.take(_MAX_PREFIX_BYTES)) if fixed else wire.varint()
        yield from _request(wire, wire.position + size)


class _Wire:
    """Protobuf's wire format, forward only."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.position = 0
        self.place = ""
        """Path of what is being read."""

    def fail(self, what: str, *, at: int | None = None) -> InputError:
        """Return an error that names the place; one of the file itself goes before."""
        self._source.check()
        place = f" ({self.place})" if self.place else ""
        position = self.position if at is None else at
        return InputError(f"{self._source.name}: byte {position}: {what}{place}")

    def at_end(self) -> bool:
        """Say whether nothing is left.

        Raises:
            InputError: The file was cut.
        """
        if self._source.bytes.peek(1):
            return False
        self._source.check()
        return True

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        if size > MAX_MESSAGE_BYTES:
            raise self.fail(f"not OTLP protobuf: a part of {size} bytes")
        part = self._source.bytes.read(size)
        self.position += len(part)
        if len(part) < size:
            raise self.fail("OTLP protobuf that is cut")
        return part

    def skip(self, size: int) -> None:
        """Pass over `size` bytes."""
        while size > 0:
            size -= len(self.take(min(size, _CHUNK)))

    def varint(self) -> int:
        """Return the next number."""
        value = 0
        start = self.position
        for index in range(_MAX_VARINT_BYTES):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:  # noqa: PLR2004 - the bit that says that more follows
                return value
        raise self.fail("not OTLP protobuf: a number without an end", at=start)

    def fields(self, end: int | None) -> Iterator[tuple[int, int]]:
        """Yield the number and size of each field that is a message; the caller takes its bytes.

        Args:
            end: Position at which the message ends; `None`: at the end of the file.
        """
        while not self.at_end() if end is None else self.position < end:
            start = self.position
            tag = self.varint()
            kind = tag & 7
            if kind == _LENGTH:
                size = self.varint()
                if end is not None and self.position + size > end:
                    raise self.fail("not OTLP protobuf: a part longer than the whole", at=start)
                yield tag >> 3, size
            elif end is None or kind not in {_VARINT, _FIXED_64, _FIXED_32}:
                raise self.fail("not OTLP protobuf", at=start)
            elif kind == _VARINT:
                self.varint()
            else:
                self.skip(8 if kind == _FIXED_64 else 4)


def _request(wire: _Wire, end: int | None) -> Iterator[RecordedSpan | LogRecord]:
    for index, (number, size) in enumerate(wire.fields(end)):
        if number != 1:
            raise wire.fail(f"not an OTLP request: a field {number}")
        wire.place = f"resourceSpans[{index}]"
        yield from _resource(wire, wire.position + size)


def _resource(wire: _Wire, end: int) -> Iterator[RecordedSpan | LogRecord]:
    place, index = wire.place, 0
    for number, size in wire.fields(end):
        if number == 2:  # noqa: PLR2004 - ResourceSpans.scope_spans
            wire.place = f"{place}.scopeSpans[{index}]"
            yield from _scope(wire, wire.position + size)
            index += 1
        else:
            wire.skip(size)


def _scope(wire: _Wire, end: int) -> Iterator[RecordedSpan | LogRecord]:
    place, index = wire.place, 0
    scope: str | None = None
    waiting: list[tuple[bytes, int, str]] = []
    waiting_bytes = 0
    for number, size in wire.fields(end):
        start = wire.position
        if number == 1:
            wire.place = f"{place}.scope"
            scope = _scope_name(wire, wire.take(size), start)
        elif number == 2:  # noqa: PLR2004 - ScopeSpans.spans
            wire.place = f"{place}.spans[{index}]"
            part = wire.take(size)
            index += 1
            if scope is not None:
                yield _item(wire, part, start, scope)
                continue
            waiting.append((part, start, wire.place))
            waiting_bytes += size
            if waiting_bytes > MAX_WAITING_BYTES:
                raise wire.fail("`scope` must stand before so many spans")
        else:
            wire.skip(size)
    for part, start, wire.place in waiting:
        yield _item(wire, part, start, scope or "")


def _scope_name(wire: _Wire, part: bytes, start: int) -> str:
    try:
        return str(otlp_messages.Scope.FromString(part).name)
    except DecodeError:
        raise wire.fail("not OTLP protobuf: not a scope", at=start) from None


def _item(wire: _Wire, part: bytes, start: int, scope: str) -> RecordedSpan | LogRecord:
    """Read a span or a log record: both stand at one place, and only a span begins with an id."""
    is_log = bool(part) and part[0] in _LOG_TAGS
    try:
        if is_log:
            return otlp_messages.log_of(otlp_messages.LogRecord.FromString(part), scope)
        span = otlp_messages.Span.FromString(part)
    except DecodeError:
        what = "log record" if is_log else "span"
        raise wire.fail(f"not OTLP protobuf: not a {what}", at=start) from None
    if not span.span_id:
        raise wire.fail("not an OTLP span: it has no span_id", at=start)
    return otlp_messages.span_of(span, scope)
