"""A store that ends with the process."""

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from threading import Lock

from otel_watchdog_collector.facts import Entry, Parcel, Row, Snapshot, Table
from otel_watchdog_collector.stores.base import SHORT_LIVED, Query, column_values, key_of


class MemoryStore:
    """Keeps everything in this process; see `Store`. For trying out, and for tests."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seq = 0
        self._journal: list[tuple[int, Entry]] = []
        self._snapshot: Snapshot | None = None
        self._rows: dict[tuple[Table, str, str], Row] = {}
        self._parcels: dict[tuple[str, str], Parcel | None] = {}
        """`None`: sent."""

    def open(self) -> None:
        """See `Store.open`."""

    def commit(
        self,
        entries: Sequence[Entry] = (),
        rows: Sequence[Row] = (),
        parcels: Sequence[Parcel] = (),
    ) -> int:
        """See `Store.commit`."""
        with self._lock:
            for entry in entries:
                self._seq += 1
                self._journal.append((self._seq, entry))
            self._put(rows, parcels)
            return self._seq

    def journal(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        """See `Store.journal`."""
        with self._lock:
            entries = [item for item in self._journal if item[0] > after]
        yield from entries

    def snapshot(self) -> Snapshot | None:
        """See `Store.snapshot`."""
        return self._snapshot

    def save_snapshot(
        self, snapshot: Snapshot, rows: Sequence[Row] = (), parcels: Sequence[Parcel] = ()
    ) -> None:
        """See `Store.save_snapshot`."""
        with self._lock:
            self._put(rows, parcels)
            self._snapshot = snapshot
            self._journal = [item for item in self._journal if item[0] > snapshot.seq]
            self._parcels = {
                key: parcel for key, parcel in self._parcels.items() if parcel is not None
            }

    def rows(self, query: Query) -> list[Row]:
        """See `Store.rows`."""
        where = {name: key_of(value) for name, value in query.where.items()}
        with self._lock:
            found = [
                row
                for (table, tenant, _), row in self._rows.items()
                if (table, tenant) == (query.table, query.tenant)
                and where.items() <= column_values(row).items()
                and (query.since is None or row.at >= query.since)
                and (
                    query.before is None or (-row.at, row.id) > (-query.before[0], query.before[1])
                )
            ]
        return sorted(found, key=lambda row: (-row.at, row.id))[: query.limit]

    def tenants(self, table: Table) -> list[str]:
        """See `Store.tenants`."""
        with self._lock:
            return sorted({tenant for one, tenant, _ in self._rows if one is table})

    def row(self, table: Table, tenant: str, id: str) -> Row | None:  # noqa: A002 - as in Store
        """See `Store.row`."""
        return self._rows.get((table, tenant, key_of(id)))

    def parcels(self, destination: str, limit: int) -> list[Parcel]:
        """See `Store.parcels`."""
        with self._lock:
            waiting = [
                parcel
                for (name, _), parcel in self._parcels.items()
                if name == destination and parcel is not None
            ]
        return waiting[:limit]

    def waiting_parcels(self, destination: str) -> int:
        """See `Store.waiting_parcels`."""
        return len(self.parcels(destination, len(self._parcels)))

    def sent(self, destination: str, ids: Sequence[str]) -> None:
        """See `Store.sent`."""
        with self._lock:
            for id_ in ids:
                self._parcels[destination, id_] = None

    def prune(self, before: float, tables: Collection[Table] = SHORT_LIVED) -> int:
        """See `Store.prune`."""
        with self._lock:
            old = [
                key for key, row in self._rows.items() if row.at < before and row.table in tables
            ]
            for key in old:
                del self._rows[key]
        return len(old)

    def size_bytes(self) -> int:
        """See `Store.size_bytes`."""
        return sum(len(entry.body) for _, entry in self._journal)

    def close(self) -> None:
        """See `Store.close`."""

    def _put(self, rows: Sequence[Row], parcels: Sequence[Parcel]) -> None:
        for row in rows:
            key = key_of(row.id)
            self._rows[row.table, row.tenant, key] = dataclasses.replace(row, id=key)
        for parcel in parcels:
            self._parcels.setdefault((parcel.destination, parcel.id), parcel)
