"""A store in a PostgreSQL server that others look after."""

from contextlib import suppress
from typing import Final

from sqlalchemy import Connection, create_engine, func, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from otel_watchdog_collector.stores.base import StoreError
from otel_watchdog_collector.stores.sql import SqlStore, errors
from otel_watchdog_collector.stores.tables import metadata

_LOCK: Final = 0x7764_6F67
"""Number of the advisory lock: one service to a database."""

_LOCK_SECONDS: Final = 3
"""How long a service that starts waits for the lock."""


class PostgresStore(SqlStore):
    """Keeps everything in a PostgreSQL database, through psycopg; see `Store`.

    One service writes into one database, which an advisory lock sees to.

    Args:
        url: `postgresql://user:password@host:port/database`.
    """

    def __init__(self, url: str) -> None:
        address = make_url(url).set(drivername="postgresql+psycopg")
        super().__init__(
            create_engine(address, pool_pre_ping=True, connect_args={"client_encoding": "utf8"})
        )
        self._held: Connection | None = None

    def open(self) -> None:
        """See `Store.open`.

        Raises:
            StoreError: It cannot be reached, or another service has it.
        """
        with errors():
            self._held = self._engine.connect()
            self._held.execute(text(f"SET lock_timeout = '{_LOCK_SECONDS}s'"))
        try:
            # One that has just ended may hold the lock until the server has noticed.
            self._held.execute(select(func.pg_advisory_lock(_LOCK)))
            self._held.commit()
        except SQLAlchemyError as error:
            raise StoreError(f"another service has the database: {error.args[0]}") from None
        super().open()

    def close(self) -> None:
        """See `Store.close`."""
        if self._held is not None:
            with suppress(SQLAlchemyError):
                self._held.rollback()
                self._held.execute(select(func.pg_advisory_unlock_all()))
                self._held.commit()
            self._held.close()
            self._held = None
        super().close()

    def size_bytes(self) -> int:
        """See `Store.size_bytes`."""
        names = [table.name for table in metadata.sorted_tables]
        sizes = [select(func.pg_total_relation_size(name)).scalar_subquery() for name in names]
        with errors(), self._engine.connect() as connection:
            found = connection.execute(select(*sizes)).one()
        return sum(found)
