"""The one way in: what comes is journaled first, then judged, then answered.

What was acknowledged is in the store. Entries that come while one commit runs share the next.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Entry, Parcel, Row, Snapshot, Table
from otel_watchdog_collector.health import Sign
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline.frames import join, split
from otel_watchdog_collector.pipeline.judges import Seat, judges_of
from otel_watchdog_collector.pipeline.parts import Kept, kept
from otel_watchdog_collector.pipeline.tenant import Publish
from otel_watchdog_collector.pipeline.waiting import Full, Promises, Waiting, take_group
from otel_watchdog_collector.stores import Store, StoreError
from otel_watchdog_collector.wire import Batch

FLUSH_SECONDS: Final = 1.0
"""Seconds that rows wait for an entry to be written with."""
PRUNE_SECONDS: Final = 3600.0
MAX_GROUP_BYTES: Final = 8 * 1024 * 1024
"""Bytes of entries that one commit takes."""

MAX_BEGUN: Final = 64
"""Entries of the journal that workers are asked of before the first of them is done."""

_T = TypeVar("_T")

_logger = logging.getLogger(__name__)


class Intake:
    """Takes entries in, in order, for all tenants.

    Args:
        store: Opened; its journal is written by this alone.
        config: Settings.
        clock: Time of day.
        meters: Counts.
        publish: Called with each correction; again when the journal is replayed.
        on_judged: Called with the tenant and each batch that was judged, and the time.
        on_signs: Called with the tenant and what was seen of its agents, and the time; not for
            what is replayed.
        on_kept: Called with rows once they are in the store.
    """

    def __init__(  # noqa: PLR0913 - it wires the pipeline's ends
        self,
        store: Store,
        config: CollectorConfig,
        *,
        clock: WallClock,
        meters: Meters,
        publish: Publish,
        on_judged: Callable[[str, Batch, float], None],
        on_signs: Callable[[str, Sequence[Sign], float], None] = lambda *_: None,
        on_kept: Callable[[Sequence[Row]], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._config = config
        self._clock = clock
        self._meters = meters
        self._publish = publish
        self._on_judged = on_judged
        self._on_signs = on_signs
        self._on_kept = on_kept
        self._promises = Promises()
        self._tenants: dict[str, Seat] = {}
        self._judges = judges_of(config, meters=meters, publish=publish, kept=self._kept)
        self._waiting: deque[Waiting] = deque()
        self._waiting_bytes = 0
        self._wake = asyncio.Event()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="otel-watchdog-store")
        self._rows: list[Row] = []
        self.parcels: list[Parcel] = []
        """Those that `publish` makes; they go into the store with the next commit."""
        self._seq = 0
        self._journal_bytes = 0
        self._gathered_at = 0.0
        self._hurried = False
        self._snapshot_at = clock()
        self._pruned_at = clock()
        self._task: asyncio.Task[None] | None = None
        self.is_writable = True
        """Whether the last commit succeeded."""

    @property
    def tenants(self) -> Sequence[Seat]:
        """Those that something is known of."""
        return tuple(self._tenants.values())

    @property
    def waiting_bytes(self) -> int:
        """Bytes in work."""
        return self._waiting_bytes

    def tenant(self, name: str) -> Seat:
        """Return a tenant; it is made, if there was none.

        Raises:
            Full: There are too many.
        """
        tenant = self._tenants.get(name)
        if tenant is None:
            if len(self._tenants) >= self._config.max_tenants:
                raise Full("too many tenants")
            tenant = self._tenants[name] = self._judges.make(name)
        return tenant

    async def recover(self) -> int:
        """Know again what was known before the process ended; return how many entries that took."""
        snapshot = self._store.snapshot()
        if snapshot is not None:
            self._seq = snapshot.seq
            self._tenants.update(await self._judges.load(kept(split(snapshot.body))))
        count = 0
        begun: deque[Awaitable[Sequence[Sign]]] = deque()
        for seq, entry in self._store.journal(self._seq):
            begun.append(self._begin(entry, None))
            if len(begun) >= MAX_BEGUN:
                await begun.popleft()
            self._journal_bytes += len(entry.body)
            self._seq = seq
            count += 1
        for judged in begun:
            await judged
        return count

    def start(self) -> None:
        """Begin to take in."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Finish what is in work, write a snapshot if any is due, let go. Safe to call twice."""
        task, self._task = self._task, None
        if task is None:
            await self._judges.close()
            return
        self._wake.set()
        await task
        with contextlib.suppress(StoreError):
            if self._journal_bytes:
                await self._snapshot()
            else:  # the last one has it all
                await self._gather_when_due(idle=True)
                await self._commit(())
        await self._judges.close()
        self._writer.shutdown()

    async def submit(
        self, entry: Entry, batch: Batch | None = None, parcels: Sequence[Parcel] = ()
    ) -> None:
        """Take in an entry; return when it is in the store and judged.

        Args:
            entry: With its body as it was sent.
            batch: What the body holds, where it is OTLP and was decoded.
            parcels: What is to be passed on.

        Raises:
            Full: Too much is in work.
            StoreError: It could not be kept.
        """
        size = len(entry.body)
        if self._task is None or self._waiting_bytes + size > self._config.max_waiting_bytes:
            raise Full("too much is in work")
        self.tenant(entry.tenant)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(Waiting(entry, batch, parcels, done))
        self._waiting_bytes += size
        self._wake.set()
        try:
            await done
        finally:
            self._waiting_bytes -= size

    async def keep(self, rows: Sequence[Row]) -> None:
        """Have rows written; return when they are in the store, however long that takes.

        Raises:
            Full: The service ends.
            StoreError: They were dropped.
        """
        if self._task is None:
            raise Full("the service ends")
        self._rows += rows
        self._wake.set()
        await self._promises.give()

    def hurry(self) -> None:
        """Have rows written at once: somebody looks at them."""
        self._hurried = True
        self._wake.set()

    async def _run(self) -> None:
        while self._task is not None or self._waiting:
            if not self._waiting:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(FLUSH_SECONDS):
                        await self._wake.wait()
                self._wake.clear()
            try:
                await self._turn()
            except StoreError as error:
                self._note_store(error)
            except Exception:
                self._meters.add("internal_errors_total")
                _logger.exception("a commit or snapshot failed; rows are dropped")
                self._rows = []
                self._promises.settle(len(self._promises), StoreError("the rows were dropped"))

    async def _turn(self) -> None:
        """Commit what waits, judge it, answer; then see to snapshot and retention."""
        group = take_group(self._waiting, MAX_GROUP_BYTES)
        await self._gather_when_due(idle=not group)
        try:
            if group or self._rows or self._promises or self.parcels:
                await self._commit(group)
        except Exception as error:
            for waiting in group:
                waiting.answer(StoreError(f"not kept: {error}"))
            raise
        begun = [self._begin(waiting.entry, waiting.batch) for waiting in group]
        for waiting, judged in zip(group, begun, strict=True):
            self._note(waiting, await judged)
            waiting.answer(None)
            await asyncio.sleep(0)
        now = self._clock()
        if self._journal_bytes >= self._config.max_journal_bytes or (
            self._journal_bytes and now - self._snapshot_at >= self._config.snapshot_seconds
        ):
            await self._snapshot()
        if now - self._pruned_at >= PRUNE_SECONDS:
            self._pruned_at = now
            before = now - self._config.retention_days * 86_400
            await self._in_writer(lambda: self._store.prune(before))
            oldest = now - self._config.fleet.audit_days * 86_400
            await self._in_writer(lambda: self._store.prune(oldest, {Table.AUDIT}))

    async def _gather_when_due(self, *, idle: bool) -> None:
        """Take rows to be written along: each second under load, and when there is time."""
        now = asyncio.get_running_loop().time()
        if idle or self._hurried or now - self._gathered_at >= FLUSH_SECONDS:
            self._hurried = False
            self._gathered_at = now
            self._rows += await self._judges.rows(self.tenants)

    async def _commit(self, group: Sequence[Waiting]) -> None:
        entries = [waiting.entry for waiting in group]
        rows, promises = list(self._rows), len(self._promises)  # more may come meanwhile
        own = self.parcels
        parcels = own + [parcel for waiting in group for parcel in waiting.parcels]
        self._seq = await self._in_writer(lambda: self._store.commit(entries, rows, parcels))
        self.is_writable = True
        self._rows = self._rows[len(rows) :]
        self._on_kept(rows)
        self._promises.settle(promises)
        self.parcels = self.parcels[len(own) :]
        self._journal_bytes += sum(len(entry.body) + 64 for entry in entries)

    async def _snapshot(self) -> None:
        self._rows += await self._judges.rows(self.tenants)
        body = join((await self._judges.freeze(self.tenants)).named())
        rows, parcels = list(self._rows), list(self.parcels)
        snapshot = Snapshot(self._seq, body)
        await self._in_writer(lambda: self._store.save_snapshot(snapshot, rows, parcels))
        self._judges.note_saved()
        self._rows = self._rows[len(rows) :]
        self._on_kept(rows)
        self.parcels = self.parcels[len(parcels) :]
        self._journal_bytes = 0
        self._snapshot_at = self._clock()
        self._meters.add("snapshots_total")

    def _begin(self, entry: Entry, batch: Batch | None) -> Awaitable[Sequence[Sign]]:
        return self._judges.begin(self.tenant(entry.tenant), entry, batch)

    def _note(self, waiting: Waiting, signs: Sequence[Sign]) -> None:
        entry = waiting.entry
        if waiting.batch is not None:
            self._on_judged(entry.tenant, waiting.batch, entry.at)
            if signs:
                self._on_signs(entry.tenant, signs, entry.at)

    def _kept(self) -> Kept:
        snapshot = self._store.snapshot()
        return Kept() if snapshot is None else kept(split(snapshot.body))

    def _note_store(self, error: StoreError) -> None:
        if self.is_writable:
            _logger.error("nothing is taken in while the store fails: %s", error)
        self.is_writable = False

    async def _in_writer(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)
