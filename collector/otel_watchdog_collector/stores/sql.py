"""What both SQL stores do; they differ in how they connect and how they put in what is there."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

import orjson
from sqlalchemy import Engine, and_, delete, func, insert, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from otel_watchdog_collector.facts import Entry, Kind, Parcel, Row, Snapshot, Table
from otel_watchdog_collector.stores import tables as sql_tables
from otel_watchdog_collector.stores.base import (
    SHORT_LIVED,
    Query,
    StoreError,
    column_values,
    key_of,
)

_PAGE: Final = 64
"""Entries of the journal that are read at once."""


class SqlStore:
    """A store in a SQL database; see `Store`.

    Args:
        engine: Connects to it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seq = 0
        own = import_module(f"sqlalchemy.dialects.{engine.dialect.name}")  # the other costs MiB
        self._put_parcel = own.insert(sql_tables.parcels).on_conflict_do_nothing(
            index_elements=["destination", "id"]
        )
        self._put_row = {}
        for table, sql in sql_tables.rows.items():
            put = own.insert(sql)
            new = {
                column.name: put.excluded[column.name]
                for column in sql.columns
                if not column.primary_key
            }
            self._put_row[table] = put.on_conflict_do_update(
                index_elements=["tenant", "id"], set_=new
            )

    def open(self) -> None:
        """See `Store.open`."""
        with errors(), self._engine.begin() as connection:
            sql_tables.migrate(connection)
            last = connection.execute(select(func.max(sql_tables.journal.c.seq))).scalar()
            held = connection.execute(select(func.max(sql_tables.snapshots.c.seq))).scalar()
        self._seq = max(last or 0, held or 0)

    def commit(
        self,
        entries: Sequence[Entry] = (),
        rows: Sequence[Row] = (),
        parcels: Sequence[Parcel] = (),
    ) -> int:
        """See `Store.commit`."""
        seq = self._seq
        values = []
        for entry in entries:
            seq += 1
            values.append(
                {
                    "seq": seq,
                    "kind": entry.kind.value,
                    "tenant": entry.tenant,
                    "at": entry.at,
                    "gzipped": entry.gzipped,
                    "body": entry.body,
                }
            )
        with errors(), self._engine.begin() as connection:
            if values:
                connection.execute(insert(sql_tables.journal), values)
            self._put(connection, rows, parcels)
        self._seq = seq
        return seq

    def journal(self, after: int = 0) -> Iterator[tuple[int, Entry]]:
        """See `Store.journal`."""
        table = sql_tables.journal
        while True:
            query = select(table).where(table.c.seq > after).order_by(table.c.seq).limit(_PAGE)
            with errors(), self._engine.connect() as connection:
                page = connection.execute(query).all()
            for found in page:
                entry = Entry(Kind(found.kind), found.tenant, found.at, found.body, found.gzipped)
                yield found.seq, entry
            if len(page) < _PAGE:
                return
            after = page[-1].seq

    def snapshot(self) -> Snapshot | None:
        """See `Store.snapshot`."""
        table = sql_tables.snapshots
        with errors(), self._engine.connect() as connection:
            found = connection.execute(select(table.c.seq, table.c.body)).first()
        return Snapshot(found.seq, found.body) if found else None

    def save_snapshot(
        self, snapshot: Snapshot, rows: Sequence[Row] = (), parcels: Sequence[Parcel] = ()
    ) -> None:
        """See `Store.save_snapshot`."""
        with errors(), self._engine.begin() as connection:
            self._put(connection, rows, parcels)
            connection.execute(delete(sql_tables.snapshots))
            connection.execute(
                insert(sql_tables.snapshots).values(id=1, seq=snapshot.seq, body=snapshot.body)
            )
            connection.execute(
                delete(sql_tables.journal).where(sql_tables.journal.c.seq <= snapshot.seq)
            )
            connection.execute(delete(sql_tables.parcels).where(sql_tables.parcels.c.sent))

    def rows(self, query: Query) -> list[Row]:
        """See `Store.rows`."""
        sql = sql_tables.rows[query.table]
        chosen = select(sql).where(sql.c.tenant == query.tenant)
        for name, value in query.where.items():
            chosen = chosen.where(sql.c[name] == key_of(value))
        if query.since is not None:
            chosen = chosen.where(sql.c.at >= query.since)
        if query.before is not None:
            at, last = query.before[0], key_of(query.before[1])
            chosen = chosen.where(or_(sql.c.at < at, and_(sql.c.at == at, sql.c.id > last)))
        chosen = chosen.order_by(sql.c.at.desc(), sql.c.id).limit(query.limit)
        with errors(), self._engine.connect() as connection:
            found = connection.execute(chosen).all()
        return [_row(query.table, one) for one in found]

    def tenants(self, table: Table) -> list[str]:
        """See `Store.tenants`."""
        sql = sql_tables.rows[table]
        with errors(), self._engine.connect() as connection:
            return sorted(connection.execute(select(sql.c.tenant).distinct()).scalars())

    def row(self, table: Table, tenant: str, id: str) -> Row | None:  # noqa: A002 - as in Store
        """See `Store.row`."""
        sql = sql_tables.rows[table]
        chosen = select(sql).where(sql.c.tenant == tenant, sql.c.id == key_of(id))
        with errors(), self._engine.connect() as connection:
            found = connection.execute(chosen).first()
        return _row(table, found) if found else None

    def parcels(self, destination: str, limit: int) -> list[Parcel]:
        """See `Store.parcels`."""
        table = sql_tables.parcels
        chosen = (
            select(table)
            .where(table.c.destination == destination, ~table.c.sent)
            .order_by(table.c.seq)
            .limit(limit)
        )
        with errors(), self._engine.connect() as connection:
            found = connection.execute(chosen).all()
        return [
            Parcel(
                destination=one.destination,
                id=one.id,
                path=one.path,
                content_type=one.content_type,
                body=one.body,
                gzipped=one.gzipped,
            )
            for one in found
        ]

    def waiting_parcels(self, destination: str) -> int:
        """See `Store.waiting_parcels`."""
        table = sql_tables.parcels
        chosen = (
            select(func.count())
            .select_from(table)
            .where(table.c.destination == destination, ~table.c.sent)
        )
        with errors(), self._engine.connect() as connection:
            return connection.execute(chosen).scalar() or 0

    def sent(self, destination: str, ids: Sequence[str]) -> None:
        """See `Store.sent`."""
        table = sql_tables.parcels
        done = update(table).where(table.c.destination == destination, table.c.id.in_(ids))
        with errors(), self._engine.begin() as connection:
            connection.execute(done.values(sent=True, body=b""))

    def prune(self, before: float, tables: Collection[Table] = SHORT_LIVED) -> int:
        """See `Store.prune`."""
        count = 0
        with errors(), self._engine.begin() as connection:
            for table in tables:
                sql = sql_tables.rows[table]
                count += connection.execute(delete(sql).where(sql.c.at < before)).rowcount
        return count

    def close(self) -> None:
        """See `Store.close`."""
        self._engine.dispose()

    def _put(self, connection: Any, rows: Sequence[Row], parcels: Sequence[Parcel]) -> None:
        by_table: dict[Table, dict[tuple[str, str], dict[str, Any]]] = defaultdict(dict)
        for row in rows:
            key = key_of(row.id)
            by_table[row.table][row.tenant, key] = {
                "tenant": row.tenant,
                "id": key,
                "at": row.at,
                "fields": orjson.dumps(dict(row.fields)).decode(),
                **column_values(row),
            }
        for table, values in by_table.items():
            connection.execute(self._put_row[table], list(values.values()))
        if parcels:
            connection.execute(self._put_parcel, [_parcel_values(parcel) for parcel in parcels])


@contextmanager
def errors() -> Iterator[None]:
    """Turn the database's errors into ours."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise StoreError(f"the store failed: {type(cause).__name__}: {cause}") from error


def _row(table: Table, found: Any) -> Row:
    return Row(
        table=table,
        tenant=found.tenant,
        id=found.id,
        at=found.at,
        fields=orjson.loads(found.fields),
    )


def _parcel_values(parcel: Parcel) -> dict[str, Any]:
    return {
        "destination": parcel.destination,
        "id": parcel.id,
        "path": parcel.path,
        "content_type": parcel.content_type,
        "gzipped": parcel.gzipped,
        "body": parcel.body,
        "sent": False,
    }
