"""What is kept while the store is written is kept, too; a stop writes what is new."""

import asyncio
import threading

from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Entry, Kind, Row, Table
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline import Intake
from otel_watchdog_collector.stores import MemoryStore


class SlowStore(MemoryStore):
    """A store whose first commit waits until it is told to go on."""

    def __init__(self):
        super().__init__()
        self.entered = threading.Event()
        self.goes_on = threading.Event()

    def commit(self, entries=(), rows=(), parcels=()):
        """See `Store.commit`."""
        written = list(rows)
        self.entered.set()
        assert self.goes_on.wait(20)
        return super().commit(entries, written, parcels)


def row(id_):
    """Return a row."""
    return Row(table=Table.INCIDENTS, tenant="t", id=id_, at=1.0, fields={})


def test_rows_that_come_while_others_are_written_are_in_the_store_when_that_is_said():
    """They are neither dropped with those that were written, nor promised before they are there."""

    async def run():
        store, kept = SlowStore(), []
        intake = Intake(
            store,
            CollectorConfig(),
            clock=lambda: 1.0,
            meters=Meters(),
            publish=lambda *_: None,
            on_judged=lambda *_: None,
            on_kept=lambda rows: kept.append([one.id for one in rows]),
        )
        intake.start()
        first = asyncio.ensure_future(intake.keep([row("first")]))
        await asyncio.to_thread(store.entered.wait, 20)
        second = asyncio.ensure_future(intake.keep([row("second")]))
        await asyncio.sleep(0)
        store.goes_on.set()
        await asyncio.gather(first, second)
        found = [store.row(Table.INCIDENTS, "t", id_) is not None for id_ in ("first", "second")]
        await intake.close()
        return found, kept

    found, kept = asyncio.run(run())

    assert found == [True, True]
    assert kept[:2] == [["first"], ["second"]]


def test_a_stop_writes_a_snapshot_only_of_what_the_last_one_does_not_have():
    """Rows are written in either case."""
    store, meters = MemoryStore(), Meters()

    async def run(*entries):
        intake = Intake(
            store,
            CollectorConfig(),
            clock=lambda: 1.0,
            meters=meters,
            publish=lambda *_: None,
            on_judged=lambda *_: None,
        )
        await intake.recover()
        intake.start()
        for entry in entries:
            await intake.submit(entry)
        intake._rows.append(row(f"row-{len(entries)}"))
        await intake.close()
        return meters["snapshots_total"]

    counts = [
        asyncio.run(run(Entry(Kind.MODE, "t", 1.0, b"enforce"))),
        asyncio.run(run()),
    ]

    assert counts == [1, 1]
    assert all(store.row(Table.INCIDENTS, "t", name) for name in ("row-0", "row-1"))
