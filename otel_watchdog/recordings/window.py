"""Spans in the order in which things happened, as far as a bounded window reaches."""

import dataclasses
import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from otel_watchdog import otlp
from otel_watchdog.errors import InputError
from otel_watchdog.otlp import Recorded
from otel_watchdog.spans import LogRecord

MAX_SPANS: Final = 100_000
MAX_BYTES: Final = 32 * 1024 * 1024

_SPAN_BYTES: Final = 500
_VALUE_BYTES: Final = 60


@dataclass(slots=True)
class _Kept:
    """A span that has not left."""

    index: int
    span: Recorded
    """Without its content, if that waits in the file."""
    offset: int | None
    """Where in the file."""
    size: int
    """Bytes in memory."""
    began: bool = False


class Window:
    """Takes spans in the order of a recording, and gives their beginnings and ends in time's.

    A recording of up to `max_spans` comes out in perfect order: content beyond `max_bytes` waits
    in a temporary file. Of a larger one, the earlier half leaves as the window fills: a span that
    stands more than half a window after where its time would put it comes late, so that what
    belongs to a run whose own span is that late counts as a run of its own.

    Args:
        max_spans: Spans kept, at least 2.
        max_bytes: Bytes of content kept in memory, roughly.
    """

    def __init__(self, *, max_spans: int = MAX_SPANS, max_bytes: int = MAX_BYTES) -> None:
        self._max_spans = max_spans
        self._max_bytes = max_bytes
        self._kept: list[_Kept] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._end = 0

    def add(self, index: int, span: Recorded) -> Iterator[tuple[int, Recorded, bool]]:
        """Take in a span; yield what has to leave, as `rest` does.

        Raises:
            InputError: The temporary file cannot be written.
        """
        size = _size(span)
        if self._bytes + size <= self._max_bytes:
            self._kept.append(_Kept(index, span, None, size))
            self._bytes += size
        else:
            bare = _bare(span)
            self._kept.append(_Kept(index, bare, self._put_away(span), 0))
        if len(self._kept) > self._max_spans:
            yield from self._leave(self._max_spans // 2)

    def rest(self) -> Iterator[tuple[int, Recorded, bool]]:
        """Yield index, span and whether it begins, of all that is left; spans may lack an end."""
        yield from self._leave(0)

    def close(self) -> None:
        """Give the temporary file back, if there is one. Safe to call twice."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _leave(self, spans: int) -> Iterator[tuple[int, Recorded, bool]]:
        kept = self._kept
        ended: set[int] = set()
        for position, begins in otlp.in_order([one.span for one in kept]):
            one = kept[position]
            if begins and one.began:
                continue
            one.began = True
            yield one.index, self._whole(one), begins
            if not begins:
                ended.add(position)
                self._bytes -= one.size
                if len(kept) - len(ended) <= spans:
                    break
        self._kept = [one for position, one in enumerate(kept) if position not in ended]
        if len(self._kept) > spans:  # the others have no end
            self._kept = []
            self._bytes = 0

    def _put_away(self, span: Recorded) -> int:
        """Write a span to the temporary file; return where."""
        offset = self._end
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="otel-watchdog-")  # noqa: SIM115 - see `close`
            self._file.seek(offset)
            pickle.dump(span, self._file, pickle.HIGHEST_PROTOCOL)
            self._end = self._file.tell()
        except OSError as error:
            raise InputError(f"no temporary file for a large recording: {error}") from None
        return offset

    def _whole(self, kept: "_Kept") -> Recorded:
        if kept.offset is None or self._file is None:
            return kept.span
        self._file.seek(kept.offset)
        span: Recorded = pickle.load(self._file)  # noqa: S301 - nobody else can reach the file
        return span


def _bare(span: Recorded) -> Recorded:
    """Return a span or log record without its content."""
    if isinstance(span, LogRecord):
        return dataclasses.replace(span, attributes={}, body=None)
    return dataclasses.replace(span, attributes={}, events=())


def _size(span: Recorded) -> int:
    """Return roughly how much memory a span takes, in bytes."""
    size = _SPAN_BYTES
    for attributes in (span.attributes, *(event.attributes for event in span.events)):
        for value in attributes.values():
            size += _VALUE_BYTES
            if isinstance(value, str | list | dict):
                size += len(value) if isinstance(value, str) else len(str(value))
    return size
