"""What the demo came to, as tables."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table as Picture
from rich.text import Text

from otel_watchdog_collector.demo.members import MEMBERS
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.health import agent_id
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.stores.base import Query
from otel_watchdog_collector.web.figures import Figures, figures

TENANT = "default"


def report(store: Store, console: Console) -> None:
    """Print it.

    Args:
        store: What is known of the agents.
        console: Where to print.
    """
    console.print(_agents(store))
    for line in _sums(figures(store, TENANT, 0.0)):
        console.print(line)


def _agents(store: Store) -> Picture:
    picture = Picture(title="The fleet", title_justify="left")
    for heading in ("agent", "framework", "what it does", "state", "turns", "corrections"):
        picture.add_column(heading, justify="right" if heading == "turns" else "left")
    corrections = _rows(store, Table.CORRECTIONS)
    runs = _rows(store, Table.RUNS)
    for member in MEMBERS:
        state = store.row(Table.CONDITIONS, TENANT, agent_id(member.framework, member.name))
        own = [row for row in corrections if row.fields["agent"] == member.name]
        told = [
            f"{row.fields['tier']} at {row.fields['turn']}, "
            f"{row.fields.get('outcome') or row.fields['state']}"
            for row in sorted(own, key=lambda row: row.fields["n"])
        ]
        turns = sum(row.fields["turns"] for row in runs if row.fields["agent"] == member.name)
        word = state.fields["state"] if state is not None else "unknown"
        picture.add_row(
            member.name,
            member.framework,
            member.about,
            Text(word, style="green" if word == "ready" else "red"),
            str(turns),
            "; ".join(told) or "none",
        )
    return picture


def _sums(found: Figures) -> Iterator[str]:
    tiers = ", ".join(f"{count} {tier}" for tier, count in found.by_tier if count)
    yield f"Corrections: {found.total} ({tiers or 'none'})."
    if found.known:
        yield f"Heeded: {found.heeded} of {found.known} whose outcome is known."
    worst = ", ".join(f"{one.id} ({one.corrections})" for one in found.drifters[:3])
    yield f"Worst drifters: {worst or 'none'}."
    tokens = found.corrected.tokens + found.others.tokens
    yield f"Tokens: {tokens:,}, as far as spans tell. Money: unknown, they tell no prices."


def _rows(store: Store, table: Table) -> Sequence[Row]:
    return store.rows(Query(table, TENANT, limit=1000))
