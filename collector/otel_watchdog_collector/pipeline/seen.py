"""Which spans and log records were seen before."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain
from typing import Final

import xxhash

from otel_watchdog.spans import LogRecord

MAX_SPANS: Final = 100_000
"""Spans that are remembered at least; twice as many at most."""

MAX_SECONDS: Final = 3600.0
"""Seconds that a span is remembered at least: exporters give up long before."""


_BITS: Final = 64
_MOST: Final = (1 << _BITS) - 1
_PARTS: Final = 1024
"""Parts that numbers fall into, by their last bits."""


class _Numbers:
    """A set of numbers of 64 bits, in sorted arrays: one takes nine bytes, in a `set` a hundred."""

    __slots__ = ("_count", "_parts")

    def __init__(self) -> None:
        self._count = 0
        self._parts: dict[int, array[int]] = {}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._parts.values())

    def __contains__(self, number: int) -> bool:
        part = self._parts.get(number % _PARTS, ())
        place = bisect_left(part, number)
        return place < len(part) and part[place] == number

    def add(self, number: int) -> None:
        """Put a number in, unless it is there."""
        part = self._parts.get(number % _PARTS)
        if part is None:
            part = self._parts[number % _PARTS] = array("Q")
        place = bisect_left(part, number)
        if place == len(part) or part[place] != number:
            part.insert(place, number)
            self._count += 1

    def __getstate__(self) -> bytes:
        """Return all numbers, eight bytes each."""
        return b"".join(part.tobytes() for part in self._parts.values())

    def __setstate__(self, state: bytes) -> None:
        """Hold what `__getstate__` returned."""
        self.__init__()  # type: ignore[misc] # of this very class
        known = array("Q")
        known.frombytes(state)
        for number in known:
            self.add(number)


class Seen:
    """Remembers ids of spans, in two generations: the older one is dropped as a whole.

    >>> seen = Seen(max_spans=2)
    >>> [seen.add(span) for span in (1, 1, 2, 3, 4, 5, 1)]
    [True, False, True, True, True, True, True]
    """

    def __init__(self, max_spans: int = MAX_SPANS) -> None:
        self._max_spans = max_spans
        self._since = 0.0
        self._young = _Numbers()
        self._old = _Numbers()

    def __contains__(self, span: int) -> bool:
        """Say whether a span is remembered."""
        number = _short(span)
        return number in self._young or number in self._old

    def add(self, span: int) -> bool:
        """Remember a span; return whether it is new.

        Args:
            span: What tells it from all others.
        """
        number = _short(span)
        if number in self._young or number in self._old:
            return False
        if len(self._young) >= self._max_spans:
            self._turn()
        self._young.add(number)
        return True

    def absorb(self, other: "Seen") -> None:
        """Remember what another did, too."""
        self._since = max(self._since, other._since)  # noqa: SLF001 - one of its own kind
        for mine, others in ((self._young, other._young), (self._old, other._old)):  # noqa: SLF001 - as above
            for number in others:
                mine.add(number)

    def age(self, at: float) -> None:
        """Drop what was remembered for long enough.

        Args:
            at: The time, in seconds since the epoch.
        """
        if at - self._since >= MAX_SECONDS:
            self._since = at
            self._turn()

    def _turn(self) -> None:
        self._old = self._young
        self._young = _Numbers()


def _short(span: int) -> int:
    """Return a number of 64 bits for one of 128, as random as that: two that meet are a marvel."""
    return (span ^ span >> _BITS) & _MOST


def number_of(record: LogRecord) -> int:
    """Return what tells a log record, which has no id, from all others: all that it says."""
    said = (record.scope, record.name, record.trace_id, record.parent_id, record.start, record.body)
    text = f"{said!r}{sorted(record.attributes.items(), key=str)!r}"
    return xxhash.xxh3_128_intdigest(text.encode("utf-8", "surrogatepass"))
