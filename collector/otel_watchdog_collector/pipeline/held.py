"""Log records that wait for the span they were written in: a span comes when it has ended."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from otel_watchdog.otlp import Recorded
from otel_watchdog.spans import LogRecord
from otel_watchdog_collector.pipeline.routes import session_place
from otel_watchdog_collector.wire import Resource

HOLD_SECONDS: Final = 10.0
"""Seconds that a record waits: exporters send every five by default. Then it is read alone."""

MAX_HELD: Final = 10_000
"""Records that wait; those that have waited longest are read alone first."""


class Item(NamedTuple):
    """A span or log record, and who sent it."""

    recorded: Recorded
    resource: Resource


class Held:
    """Log records by the span they were written in, those that came first first."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, list[tuple[float, Item]]] = OrderedDict()
        self._count = 0

    def put(self, record: LogRecord, resource: Resource, at: float) -> None:
        """Have a record wait.

        Args:
            record: It has a `parent_id`.
            resource: Who sent it.
            at: When it came, in seconds since the epoch.
        """
        self._waiting.setdefault(_place(record), []).append((at, Item(record, resource)))
        self._count += 1

    def take(self, spans: Iterable[Recorded]) -> Iterator[Item]:
        """Yield the records that were written in these spans."""
        if self._waiting:
            for span in spans:
                yield from self._release(span.span_id ^ span.trace_id)

    def due(self, at: float) -> Iterator[Item]:
        """Yield the records that have waited too long, or are too many."""
        while self._waiting:
            place, records = next(iter(self._waiting.items()))
            if self._count <= MAX_HELD and records[0][0] > at - HOLD_SECONDS:
                return
            yield from self._release(place)

    def absorb(self, other: "Held", is_own: Callable[[str], bool] = lambda _: True) -> None:
        """Have records wait, too, that wait elsewhere.

        Args:
            other: Where.
            is_own: Says which of them, by their conversation's id, else their trace's.
        """
        for records in other._waiting.values():  # noqa: SLF001 - one of its own kind
            for at, (recorded, resource) in records:
                if isinstance(recorded, LogRecord) and is_own(session_place(recorded)):
                    self.put(recorded, resource, at)

    def keep(self, is_own: Callable[[str], bool]) -> None:
        """Let the records go that are not `is_own`; see `absorb`."""
        others = Held()
        others._waiting, self._waiting, self._count = self._waiting, OrderedDict(), 0
        self.absorb(others, is_own)

    def _release(self, place: int) -> Iterator[Item]:
        records = self._waiting.pop(place, ())
        self._count -= len(records)
        for _, item in records:
            yield item


def _place(record: LogRecord) -> int:
    return (record.parent_id or 0) ^ record.trace_id
