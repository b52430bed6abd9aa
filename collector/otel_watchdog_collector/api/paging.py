"""Rows of the store a page at a time."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from fastapi import Query

from otel_watchdog_collector.access import Client
from otel_watchdog_collector.api.deps import Deps
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.stores.base import Query as RowQuery

_BEFORE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)~(.{1,1024})", re.DOTALL)

Limit = Annotated[int, Query(ge=1, le=1000, description="Rows, at most.")]
Before = Annotated[
    str | None, Query(pattern=_BEFORE.pattern, max_length=1100, description="`next` of a page.")
]
Name = Annotated[str | None, Query(max_length=1024)]


def rows_of(
    deps: Deps,
    client: Client,
    table: Table,
    where: Mapping[str, str],
    page: tuple[int, str | None],
) -> list[Row]:
    """Return a page of a tenant's rows."""
    limit, before = page
    after = None
    if before is not None:
        found = _BEFORE.fullmatch(before)
        if found is not None:
            after = (float(found[1]), found[2])
    return deps.store.rows(RowQuery(table, client.tenant, where, after, limit))


def next_of(rows: Sequence[Row], limit: int) -> str | None:
    """Return what to pass as `before` for the page that follows; `None` at the end."""
    return f"{rows[-1].at!r}~{rows[-1].id}" if len(rows) == limit else None
