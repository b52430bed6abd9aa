"""Where the fleets' rows stand: in the store, and the audit in files beside it."""

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from otel_watchdog.errors import WatchdogError
from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.fleet.audit_file import AuditFile
from otel_watchdog_collector.fleet.reconciler import Changes
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.stores.base import Query

KEEP_SECONDS: Final = 10.0
"""Seconds that the store has to keep a decision before it is acted upon; else it is dropped."""

_PAGE: Final = 1000

Keep: TypeAlias = Callable[[Sequence[Row]], Awaitable[None]]
"""Keeps rows; returns when they are in the store."""

_logger = logging.getLogger(__name__)


class Shelf:
    """Reads and keeps what is known of fleets.

    Args:
        store: Where to read.
        keep: Keeps rows.
        audit_file: Where audit lines go, too.
        clock: Time of day.
        meters: Counts.
    """

    def __init__(
        self,
        store: Store,
        keep: Keep,
        audit_file: AuditFile | None,
        clock: WallClock,
        meters: Meters,
    ) -> None:
        self._store = store
        self._keep = keep
        self._audit_file = audit_file
        self._clock = clock
        self._meters = meters
        self._writing = asyncio.Lock()

    def tenants(self, table: Table) -> list[str]:
        """Return the tenants that have rows in a table."""
        return self._store.tenants(table)

    def row(self, table: Table, tenant: str, id_: str) -> Row | None:
        """Return one row; `None` if there is none."""
        return self._store.row(table, tenant, id_)

    def rows(
        self,
        table: Table,
        tenant: str,
        where: Mapping[str, str] | None = None,
        since: float | None = None,
    ) -> Iterator[Row]:
        """Yield all rows of a tenant, the latest first."""
        before: tuple[float, str] | None = None
        while True:
            page = self._store.rows(Query(table, tenant, where or {}, before, _PAGE, since))
            yield from page
            if len(page) < _PAGE:
                return
            before = (page[-1].at, page[-1].id)

    async def following(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows of questions with the time at which each was asked."""
        merged = []
        for row in rows:
            before = await asyncio.to_thread(self._store.row, row.table, row.tenant, row.id)
            asked_at = (before or row).fields["asked_at"]
            merged.append(dataclasses.replace(row, fields={**row.fields, "asked_at": asked_at}))
        return merged

    async def put(self, tenant: str, changes: Changes, rows: Sequence[Row] = ()) -> bool:
        """Keep what changed, and rows; return whether they are in the store."""
        await self._write(changes)
        rows = [*rows, *_rows_of(tenant, changes, self._clock())]
        if not rows:
            return True
        try:
            async with asyncio.timeout(KEEP_SECONDS):
                await self._keep(rows)
        except (TimeoutError, WatchdogError) as error:
            _logger.warning("what a fleet decided is not kept: %s", type(error).__name__)
            return False
        return True

    async def prune(self) -> None:
        """Delete audit files that are too old."""
        if self._audit_file is not None:
            await asyncio.to_thread(self._audit_file.prune, self._clock())

    async def _write(self, changes: Changes) -> None:
        if self._audit_file is None or not changes.audit:
            return
        async with self._writing:
            try:
                await asyncio.to_thread(self._audit_file.append, changes.audit, self._clock())
            except OSError as error:
                self._meters.add("internal_errors_total")
                _logger.warning("the audit file cannot be written: %s", error)


def _rows_of(tenant: str, changes: Changes, now: float) -> Iterator[Row]:
    for state in changes.agents:
        yield Row(table=Table.CONDITIONS, tenant=tenant, id=state.id, at=now, fields=state.fields())
    for incident in changes.incidents:
        yield Row(
            table=Table.INCIDENTS, tenant=tenant, id=incident.id, at=now, fields=incident.fields()
        )
    for entry in changes.audit:
        yield Row(
            table=Table.AUDIT, tenant=tenant, id=entry.id, at=entry.at, fields=entry.as_json()
        )
