"""Model spans that stand for one call, where spans come only when they have ended.

The outermost counts, and it comes last: what comes after the first of them only adds to it.
"""

from collections import OrderedDict
from typing import Final, NamedTuple

from otel_watchdog.spans import Span

MAX_AROUND: Final = 1024
"""Spans not seen yet that are remembered; the oldest is forgotten first."""


class _Inner(NamedTuple):
    """A model span that was counted."""

    scope: str
    start: float


class Doubles:
    """Remembers in which spans, that are still to come, a model call was counted."""

    __slots__ = ("_inner",)

    def __init__(self) -> None:
        self._inner: OrderedDict[int, _Inner] = OrderedDict()
        """By the id of the span around it: the one that came last."""

    def is_told(self, span: Span, scope: str) -> bool:
        """Say whether a model span's call was counted already; it is remembered as the latest.

        It was, by a span inside of this one, or by one of another instrumentation beside it that
        began later.

        Args:
            span: It has ended, and the span around it was not seen to begin.
            scope: The instrumentation that wrote it.
        """
        inside = self._inner.pop(span.span_id, None)
        if span.parent_id is None:
            return inside is not None
        beside = self._inner.get(span.parent_id)
        self._note(span.parent_id, _Inner(scope, span.start))
        return inside is not None or (
            beside is not None and beside.scope != scope and span.start <= beside.start
        )

    def pass_on(self, span: Span) -> None:
        """Let a span that says nothing, between two that do, stand for what is inside of it."""
        inside = self._inner.pop(span.span_id, None)
        if inside is not None and span.parent_id is not None:
            self._note(span.parent_id, inside)

    def _note(self, around: int, inner: _Inner) -> None:
        self._inner[around] = inner
        self._inner.move_to_end(around)
        if len(self._inner) > MAX_AROUND:
            self._inner.popitem(last=False)
