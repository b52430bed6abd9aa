"""Which spans were seen before."""

from typing import Final

MAX_SPANS: Final = 100_000
"""Spans that are remembered at least; twice as many at most."""


class Seen:
    """Remembers ids of spans, in two generations: the older one is dropped as a whole.

    >>> seen = Seen(max_spans=2)
    >>> [seen.add(span) for span in (1, 1, 2, 3, 4, 5, 1)]
    [True, False, True, True, True, True, True]
    """

    def __init__(self, max_spans: int = MAX_SPANS) -> None:
        self._max_spans = max_spans
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
            self._old = self._young
            self._young = set()
        self._young.add(span)
        return True
