"""Where the service keeps what must outlive it: one interface, three places."""

from otel_watchdog_collector.stores.base import Store, StoreError
from otel_watchdog_collector.stores.memory import MemoryStore
from otel_watchdog_collector.stores.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore", "Store", "StoreError", "open_store"]


def open_store(url: str) -> Store:
    """Return the store that a setting names, opened and migrated.

    Args:
        url: `memory:`, `sqlite:<file>` or `postgresql://…`.

    Raises:
        StoreError: It cannot be opened.
    """
    if url.startswith("memory:"):
        store: Store = MemoryStore()
    elif url.startswith("sqlite:"):
        store = SqliteStore(url.removeprefix("sqlite:"))
    else:
        from otel_watchdog_collector.stores.postgres import PostgresStore  # noqa: PLC0415 - where used

        store = PostgresStore(url)
    try:
        store.open()
    except StoreError:
        store.close()
        raise
    return store
