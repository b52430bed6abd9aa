"""Judges in the process that serves."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from otel_watchdog.errors import InputError
from otel_watchdog.model import Mode
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Entry, Kind, Row
from otel_watchdog_collector.health import Sign
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline.parts import Frame, Kept, decoded
from otel_watchdog_collector.pipeline.tenant import Tenant
from otel_watchdog_collector.wire import Batch, Limits

_logger = logging.getLogger(__name__)


class Here:
    """Judges in this process, one entry after the other.

    Args:
        config: Settings.
        make: Returns a new tenant of a name.
        meters: Counts.
    """

    def __init__(
        self, config: CollectorConfig, make: Callable[[str], Tenant], meters: Meters
    ) -> None:
        self._limits = Limits(config.max_attributes, config.max_attribute_chars)
        self.make = make
        self._meters = meters

    async def begin(self, seat: Tenant, entry: Entry, batch: Batch | None) -> Sequence[Sign]:
        """See `Judges.begin`: it is judged when what is returned is awaited."""
        seat.signs = []
        try:
            apply(seat, entry, lambda: batch or decoded(entry, self._limits, seat.plain_names))
        except Exception:
            self._meters.add("internal_errors_total")
            _logger.exception("an entry of kind %s could not be judged", entry.kind.value)
        return seat.signs

    async def rows(self, seats: Iterable[Tenant]) -> list[Row]:
        """See `Judges.rows`."""
        return [row for tenant in seats for row in tenant.ledger.take()]

    async def freeze(self, seats: Iterable[Tenant]) -> Kept:
        """See `Judges.freeze`."""
        return Kept([Frame(tenant.name, None, 0, tenant.freeze()) for tenant in seats])

    def note_saved(self) -> None:
        """See `Judges.note_saved`."""

    async def load(self, kept: Kept) -> Mapping[str, Tenant]:
        """See `Judges.load`; what workers knew is put together."""
        found = {}
        for name, bodies in kept.bodies().items():
            tenant = self.make(name)
            try:
                for body in bodies:
                    tenant.thaw(body)
            except InputError as error:
                _logger.warning("tenant %s starts with no evidence: %s", name, error)
                continue
            found[name] = tenant
        return found

    async def close(self) -> None:
        """See `Judges.close`."""


def apply(tenant: Tenant, entry: Entry, batch: Callable[[], Batch]) -> None:
    """Let a tenant know of an entry.

    Args:
        tenant: It.
        entry: The entry.
        batch: Returns what the body holds, where it is OTLP.
    """
    if entry.kind is Kind.MODE:
        tenant.mode = Mode[entry.body.decode().upper()]
    elif entry.kind is Kind.LEASE:
        tenant.lease(entry.body.decode().splitlines(), entry.at)
    elif entry.kind is Kind.CLAIM:
        tenant.claim(entry.body.decode().splitlines(), entry.at)
    else:
        tenant.take(batch(), entry.at)
