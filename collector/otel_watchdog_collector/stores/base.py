"""What a store is."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from otel_watchdog.errors import WatchdogError
from otel_watchdog_collector.facts import Entry, Parcel, Row, Snapshot, Table


class StoreError(WatchdogError):
    """A store cannot be opened, written or read now; nothing of the call was done."""


class Query(NamedTuple):
    """Which rows of a tenant to list: the latest changed first."""

    table: Table
    tenant: str
    where: Mapping[str, str] = {}
    """Fields that must equal; only those that the table has a column for."""
    before: tuple[float, str] | None = None
    """Goes on after a row with this `at` and id."""
    limit: int = 100
    since: float | None = None
    """Only those with this `at` or a later one."""


SHORT_LIVED: Final = frozenset(Table) - {Table.AUDIT, Table.FLEET}
"""Tables whose rows go when they did not change for long."""


class Store(Protocol):
    """Keeps the journal, snapshots of the state, rows to look at, and parcels on their way.

    Its calls block; each is done whole or not at all, and what it returned from outlives the
    process. Written by one thread at a time, read by any.
    """

    def open(self) -> None:
        """Connect, and bring the tables to this version.

        Raises:
            StoreError: It cannot be reached, or was written by a newer version.
        """
        ...

    def commit(
        self,
        entries: Sequence[Entry] = (),
        rows: Sequence[Row] = (),
        parcels: Sequence[Parcel] = (),
    ) -> int:
        """Append entries to the journal, replace rows, put in parcels, all at once.

        Returns:
            The number of the last entry in the journal, from 1; it only ever grows.

        Raises:
            StoreError: Nothing of it was kept.
        """
        ...

    def journal(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        """Yield the entries after a number, in order, with their numbers."""
        ...

    def snapshot(self) -> Snapshot | None:
        """Return the latest snapshot; `None` if there is none."""
        ...

    def save_snapshot(
        self, snapshot: Snapshot, rows: Sequence[Row] = (), parcels: Sequence[Parcel] = ()
    ) -> None:
        """Replace the snapshot, and drop the entries that are in it and parcels that were sent."""
        ...

    def rows(self, query: Query) -> list[Row]:
        """Return rows, the latest changed first, then by id."""
        ...

    def tenants(self, table: Table) -> list[str]:
        """Return the tenants that have rows in a table."""
        ...

    def row(self, table: Table, tenant: str, id: str) -> Row | None:  # noqa: A002 - what it is
        """Return one row; `None` if there is none."""
        ...

    def parcels(self, destination: str, limit: int) -> list[Parcel]:
        """Return those that wait for a destination, oldest first."""
        ...

    def waiting_parcels(self, destination: str) -> int:
        """Return how many wait for a destination."""
        ...

    def sent(self, destination: str, ids: Sequence[str]) -> None:
        """Note that parcels are done with; they are not sent again if they are put in again."""
        ...

    def prune(self, before: float, tables: Collection[Table] = SHORT_LIVED) -> int:
        """Delete rows of some tables that did not change since a time; return how many."""
        ...

    def size_bytes(self) -> int:
        """Return about how much space it takes."""
        ...

    def close(self) -> None:
        """Let go of everything; safe to call twice."""
        ...


COLUMNS: Mapping[Table, tuple[str, ...]] = {
    Table.AGENTS: (),
    Table.SESSIONS: ("agent",),
    Table.RUNS: ("session", "agent"),
    Table.CORRECTIONS: ("session", "agent", "state"),
    Table.FINDINGS: ("session", "agent", "detector"),
    Table.OBSERVATIONS: ("session", "run"),
    Table.CONDITIONS: ("service", "state"),
    Table.INCIDENTS: ("state", "kind"),
    Table.AUDIT: ("agent", "action"),
    Table.FLEET: (),
    Table.APPROVALS: ("state", "agent"),
}
"""Fields that rows can be listed by."""


MAX_KEY_CHARS: Final = 400
"""Characters of an id or of a field to list by; databases index no more than some kilobytes."""


def column_values(row: Row) -> dict[str, Any]:
    """Return the fields of a row that it can be listed by."""
    return {name: key_of(str(row.fields.get(name) or "")) for name in COLUMNS[row.table]}


def key_of(text: str) -> str:
    r"""Return what stands for a text in an index: itself, unless it is too long or has a NUL.

    >>> key_of("a\0b"), len(key_of("x" * 9000)), key_of("x" * 9000) == key_of("x" * 9001)
    ('a\ufffdb', 433, False)
    """
    text = text.replace("\0", "\ufffd")
    if len(text) <= MAX_KEY_CHARS:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{text[:MAX_KEY_CHARS]}~{digest}"
