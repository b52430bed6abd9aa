"""Judges in worker processes, by session; letters, modes and agents stay with who serves."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from otel_watchdog.errors import InputError
from otel_watchdog.model import Mode
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Entry, Kind, Row
from otel_watchdog_collector.health import Sign
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline.desk import Desk, Verdict
from otel_watchdog_collector.pipeline.hearing import listen
from otel_watchdog_collector.pipeline.parts import Frame, Kept, Part, decoded, is_routed
from otel_watchdog_collector.pipeline.tenant import Publish, Tenant
from otel_watchdog_collector.pipeline.workers import WorkerProcess
from otel_watchdog_collector.wire import Batch, Limits

if TYPE_CHECKING:
    from otel_watchdog.otlp import Recorded

_logger = logging.getLogger(__name__)


class Spread:
    """Hands each worker its part of every entry, and puts together what they find, in order.

    Args:
        config: Settings.
        make: Returns a new tenant of a name.
        meters: Counts.
        publish: Called with each correction, and with what came of it.
        kept: Returns what the last snapshot holds.
    """

    def __init__(
        self,
        config: CollectorConfig,
        make: Callable[[str], Tenant],
        *,
        meters: Meters,
        publish: Publish,
        kept: Callable[[], Kept],
    ) -> None:
        self._make_tenant = make
        self._expiry_seconds = config.expiry_seconds
        self._limits = Limits(config.max_attributes, config.max_attribute_chars)
        self._meters = meters
        self._publish = publish
        count = config.workers
        self.workers = [WorkerProcess(config, number, count, kept) for number in range(count)]
        self._frozen = [0 for _ in self.workers]

    def make(self, name: str) -> Desk:
        """See `Judges.make`."""
        return Desk(name, lambda: self._make_tenant(name), expiry_seconds=self._expiry_seconds)

    def begin(self, seat: Desk, entry: Entry, batch: Batch | None) -> Awaitable[Sequence[Sign]]:
        """See `Judges.begin`: workers begin at once."""
        try:
            if not entry.kind.is_otlp:
                parts = [Part(entry) for _ in self.workers]
            else:
                batch = batch or decoded(entry, self._limits, seat.plain_names)
                parts = self._parts(seat, entry, batch)
        except Exception:
            self._meters.add("internal_errors_total")
            _logger.exception("an entry of kind %s could not be judged", entry.kind.value)
            return _nothing()
        verdicts = [worker.judge(part) for worker, part in zip(self.workers, parts, strict=True)]
        return self._end(seat, entry, batch, verdicts)

    async def rows(self, seats: Iterable[Desk]) -> list[Row]:
        """See `Judges.rows`."""
        rows = [row for desk in seats for row in desk.ledger.take()]
        for found in await asyncio.gather(*(worker.rows() for worker in self.workers)):
            rows += found
        return rows

    async def freeze(self, seats: Iterable[Desk]) -> Kept:
        """See `Judges.freeze`; no entry may be between its begin and its end."""
        frozen = await asyncio.gather(*(worker.freeze() for worker in self.workers))
        self._frozen = [count for _, count in frozen]
        frames = [frame for found, _ in frozen for frame in found]
        frames += [Frame(desk.name, None, 0, desk.freeze()) for desk in seats]
        return Kept(frames, {desk.name: desk.routes.freeze() for desk in seats})

    def note_saved(self) -> None:
        """See `Judges.note_saved`."""
        for worker, count in zip(self.workers, self._frozen, strict=True):
            worker.note_saved(count)

    async def load(self, kept: Kept) -> Mapping[str, Desk]:
        """See `Judges.load`."""
        found = {}
        for name, bodies in kept.bodies().items():
            desk = self.make(name)
            try:
                desk.thaw(bodies, kept.routes.get(name))
            except InputError as error:
                _logger.warning("tenant %s starts with no evidence: %s", name, error)
                continue
            found[name] = desk
        known = await asyncio.gather(*(worker.load() for worker in self.workers))
        for name, desk in found.items():
            desk.keep_letters({one.id for letters in known for one in letters.get(name, ())})
        return found

    async def close(self) -> None:
        """See `Judges.close`."""
        await asyncio.gather(*(asyncio.to_thread(worker.close) for worker in self.workers))

    def _parts(self, desk: Desk, entry: Entry, batch: Batch) -> list[Part]:
        """Return each worker's part; a body goes to those alone who judge something of it."""
        traces: list[set[int]] = [set() for _ in self.workers]
        routed: list[Recorded] = [*batch.spans, *filter(is_routed, batch.records)]
        for shard, own in desk.routes.split(routed, entry.at).items():
            traces[shard % len(self.workers)] |= own
        empty = entry._replace(body=b"")
        return [Part(entry if own else empty, frozenset(own)) for own in traces]

    async def _end(
        self,
        desk: Desk,
        entry: Entry,
        batch: Batch | None,
        verdicts: Sequence[Awaitable[Verdict]],
    ) -> Sequence[Sign]:
        found = await asyncio.gather(*verdicts)
        if batch is not None:
            self._meters.add("heartbeats_total", listen(batch, desk.ledger, entry.at))
            desk.note_seen(batch.spans, entry.at)
        elif entry.kind is Kind.MODE:
            desk.mode = Mode[entry.body.decode().upper()]
        elif entry.kind is Kind.LEASE:
            desk.lease(entry.body.decode().splitlines())
        else:
            desk.claim(entry.body.decode().splitlines())
        signs: list[Sign] = []
        for number, verdict in enumerate(found):
            desk.take(number, verdict, entry.at)
            for name, count in verdict.counts:
                self._meters.add(name, count)
            for fact, judged, resource in verdict.told:
                self._publish(desk.name, fact, judged, resource)
            signs += verdict.signs
        return signs


async def _nothing() -> Sequence[Sign]:
    return ()
