"""Which spans and log records were seen before."""

from typing import Final

import xxhash

from otel_watchdog.spans import LogRecord

MAX_SPANS: Final = 100_000
"""Spans that are remembered at least; twice as many at most."""

MAX_SECONDS: Final = 3600.0
"""Seconds that a span is remembered at least: exporters give up long before."""


class Seen:
    """Remembers ids of spans, in two generations: the older one is dropped as a whole.

    >>> seen = Seen(max_spans=2)
    >>> [seen.add(span) for span in (1, 1, 2, 3, 4, 5, 1)]
    [True, False, True, True, True, True, True]
    """

    def __init__(self, max_spans: int = MAX_SPANS) -> None:
        self._max_spans = max_spans
        self._since = 0.0
        self._young: set[int] = set()
        self._old: set[int] = set()

    def __contains__(self, span: int) -> bool:
        """Say whether a span is remembered."""
        return span in self._young or span in self._old

    def add(self, span: int) -> bool:
        """Remember a span; return whether it is new.

        Args:
            span: What tells it from all others.
        """
        if span in self._young or span in self._old:
            return False
        if len(self._young) >= self._max_spans:
            self._turn()
        self._young.add(span)
        return True

    def absorb(self, other: "Seen") -> None:
        """Remember what another did, too."""
        self._since = max(self._since, other._since)  # noqa: SLF001 - one of its own kind
        self._young |= other._young  # noqa: SLF001 - as above
        self._old |= other._old  # noqa: SLF001 - as above

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
        self._young = set()


def number_of(record: LogRecord) -> int:
    """Return what tells a log record, which has no id, from all others: all that it says."""
    said = (record.scope, record.name, record.trace_id, record.parent_id, record.start, record.body)
    text = f"{said!r}{sorted(record.attributes.items(), key=str)!r}"
    return xxhash.xxh3_128_intdigest(text.encode("utf-8", "surrogatepass"))
