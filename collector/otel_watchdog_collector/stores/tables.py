"""The tables of the SQL stores, and how they came to be."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table as SqlTable,
    Text,
    insert,
    select,
    update,
)

from otel_watchdog_collector.facts import Table
from otel_watchdog_collector.stores.base import COLUMNS, StoreError

VERSION: Final = 2
"""Of the tables; a store with a higher one was written by a newer service."""

_NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()

versions = SqlTable("schema_version", metadata, Column("version", Integer, primary_key=True))

journal = SqlTable(
    "journal",
    metadata,
    Column("seq", _NUMBER, primary_key=True, autoincrement=True),
    Column("kind", String(32), nullable=False),
    Column("tenant", String(64), nullable=False),
    Column("at", Float(53), nullable=False),
    Column("gzipped", Boolean, nullable=False),
    Column("body", LargeBinary, nullable=False),
    sqlite_autoincrement=True,  # numbers are not used again after entries were dropped
)

snapshots = SqlTable(
    "snapshots",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seq", _NUMBER, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

parcels = SqlTable(
    "parcels",
    metadata,
    Column("seq", _NUMBER, primary_key=True, autoincrement=True),
    Column("destination", String(64), nullable=False),
    Column("id", String(128), nullable=False),
    Column("path", String(32), nullable=False),
    Column("content_type", String(64), nullable=False),
    Column("gzipped", Boolean, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("sent", Boolean, nullable=False),
    Index("parcels_by_id", "destination", "id", unique=True),
    Index("parcels_waiting", "destination", "sent", "seq"),
)


def _rows_of(table: Table) -> SqlTable:
    return SqlTable(
        table.value,
        metadata,
        Column("tenant", String(64), primary_key=True),
        Column("id", Text, primary_key=True),
        Column("at", Float(53), nullable=False),
        Column("fields", Text, nullable=False),
        *(Column(name, Text, nullable=False) for name in COLUMNS[table]),
        Index(f"{table.value}_by_time", "tenant", "at"),
        *(Index(f"{table.value}_by_{name}", "tenant", name) for name in COLUMNS[table][:1]),
    )


rows = {table: _rows_of(table) for table in Table}
"""Tables of rows."""


def migrate(connection: Connection) -> None:
    """Bring the tables to this version.

    Raises:
        StoreError: They are of a newer one.
    """
    versions.create(connection, checkfirst=True)
    found = connection.execute(select(versions.c.version)).scalar()
    if found is not None and found > VERSION:
        raise StoreError(f"the store has version {found}, this service knows {VERSION}")
    metadata.create_all(connection)
    if found is None:
        connection.execute(insert(versions).values(version=VERSION))
    elif found < VERSION:
        connection.execute(update(versions).values(version=VERSION))
