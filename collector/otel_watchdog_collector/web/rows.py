"""All rows of a kind, as far as pages look."""

from collections.abc import Iterator, Mapping
from typing import Final

from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.stores.base import Query

_PAGE: Final = 1000


def rows(
    store: Store,
    table: Table,
    tenant: str,
    *,
    where: Mapping[str, str] | None = None,
    since: float | None = None,
    most: int = 20_000,
) -> Iterator[Row]:
    """Yield rows, the latest changed first.

    Args:
        store: Where they are.
        table: Of what.
        tenant: Whose.
        where: Fields that must equal.
        since: Only those that changed then or later.
        most: Rows, at most.

    Raises:
        StoreError: It cannot be read now.
    """
    before: tuple[float, str] | None = None
    while most > 0:
        limit = min(_PAGE, most)
        found = store.rows(Query(table, tenant, where or {}, before, limit, since))
        yield from found
        if len(found) < limit:
            return
        most -= limit
        before = (found[-1].at, found[-1].id)
