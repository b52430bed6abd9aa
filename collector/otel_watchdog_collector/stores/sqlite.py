"""A store in one file: the default, for one service on one machine."""

import fcntl
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import create_engine, event, text

from otel_watchdog_collector.facts import Table
from otel_watchdog_collector.stores.base import SHORT_LIVED, StoreError
from otel_watchdog_collector.stores.sql import SqlStore


class SqliteStore(SqlStore):
    """Keeps everything in a SQLite file with a write-ahead log; see `Store`.

    A commit is on the disk when it returns, so that it outlives a loss of power, too.

    Args:
        file: Path of the database; it and its folder are made if they are not there.
    """

    def __init__(self, file: str) -> None:
        self._file = Path(file)
        self._lock: BinaryIO | None = None
        engine = create_engine(f"sqlite:///{self._file}", connect_args={"timeout": 30})
        event.listen(engine, "connect", _set_up)
        super().__init__(engine)

    def open(self) -> None:
        """See `Store.open`.

        Raises:
            StoreError: It cannot be opened, or another service has it.
        """
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._lock = self._file.with_name(self._file.name + "-lock").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise StoreError(f"{self._file}: cannot be had for this service: {error}") from None
        super().open()
        self._file.chmod(0o600)

    def close(self) -> None:
        """See `Store.close`."""
        super().close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def prune(self, before: float, tables: Collection[Table] = SHORT_LIVED) -> int:
        """See `Store.prune`; space that was freed is given back."""
        count = super().prune(before, tables)
        with self._engine.connect() as connection:
            connection.execute(text("PRAGMA incremental_vacuum"))
            connection.commit()
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
        return count

    def size_bytes(self) -> int:
        """See `Store.size_bytes`."""
        parts = (self._file, self._file.with_name(self._file.name + "-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())


def _set_up(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA wal_autocheckpoint=4000")
    cursor.close()
