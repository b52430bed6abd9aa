"""Runs the fleets: looks at them regularly, acts, keeps and tells what came of it."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

from otel_watchdog.model import Mode
from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.fleet import records
from otel_watchdog_collector.fleet.actions import Actor
from otel_watchdog_collector.fleet.activity import activity
from otel_watchdog_collector.fleet.healer import Action
from otel_watchdog_collector.fleet.probes import Prober
from otel_watchdog_collector.fleet.reconciler import Fleet
from otel_watchdog_collector.fleet.roster import MAX_AGENTS
from otel_watchdog_collector.fleet.shelf import Shelf
from otel_watchdog_collector.fleet.switches import Switches
from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import HealingMode, Report, Sign
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.stores import StoreError
from otel_watchdog_collector.wire import Batch

HEALING: Final = "healing"
"""Id of the row that holds what people set."""

PROGRAM: Final = "program"
"""Who the audit names where an agent's program says what a person did."""

SWEPT: Final = "swept"
"""Id of the row that holds when all agents were last looked at."""

_DAY: Final = 86_400.0

_logger = logging.getLogger(__name__)


class Keeper:
    """Keeps the fleets of all tenants.

    Args:
        shelf: Where what is known is kept.
        config: Settings.
        clock: Time of day.
        meters: Counts.
        switches: The kill switches.
        heartbeat_seconds: After which a heartbeat is old.
        actor: Runs actions.
        prober: Asks providers.
    """

    def __init__(  # noqa: PLR0913 - it wires the fleet's parts
        self,
        shelf: Shelf,
        config: FleetConfig,
        *,
        clock: WallClock,
        meters: Meters,
        switches: Switches,
        heartbeat_seconds: float,
        actor: Actor,
        prober: Prober,
    ) -> None:
        self._shelf = shelf
        self._config = config
        self._clock = clock
        self._meters = meters
        self._switches = switches
        self._heartbeat_seconds = heartbeat_seconds
        self._actor = actor
        self._prober = prober
        self._fleets: dict[str, Fleet] = {}
        self._modes: dict[str, HealingMode] = {}
        self._acting: set[asyncio.Task[None]] = set()
        self._task: asyncio.Task[None] | None = None

    @property
    def open_incidents(self) -> int:
        """How many incidents are open."""
        return sum(len(fleet.incidents.open) for fleet in self._fleets.values())

    def recover(self) -> None:
        """Know again what was known before the process ended.

        Raises:
            StoreError: The store cannot be read.
        """
        for tenant in self._shelf.tenants(Table.FLEET):
            row = self._shelf.row(Table.FLEET, tenant, HEALING)
            if row is not None:
                self._modes[tenant] = HealingMode(row.fields["mode"])
                self._switches.set(tenant, on=bool(row.fields["paused"]))
        for tenant in self._shelf.tenants(Table.CONDITIONS):
            fleet = self._fleet(tenant)
            may_act = self.acting(tenant) is HealingMode.HEAL
            last = self._shelf.row(Table.FLEET, tenant, SWEPT)
            swept_at = last.fields["at"] if last is not None else None
            rows = itertools.islice(self._shelf.rows(Table.CONDITIONS, tenant), MAX_AGENTS)
            for row in reversed(list(rows)):
                fleet.restore(row.id, row.fields, may_act=may_act, swept_at=swept_at)
            for row in self._shelf.rows(Table.INCIDENTS, tenant, {"state": "open"}):
                with contextlib.suppress(KeyError, TypeError, ValueError):
                    fleet.incidents.restore(row.fields["kept"])
        for one in self._config.agents:
            if one.expected:
                self._fleet(one.tenant or "default")

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self, seconds: float) -> None:
        """Let actions in work come to their end, at most for so long; keep what is known."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        if self._acting:
            await asyncio.wait(self._acting, timeout=seconds)
        for acting in self._acting:
            acting.cancel()
        await asyncio.gather(*self._acting, return_exceptions=True)
        for tenant, fleet in self._fleets.items():
            for changes in fleet.take_all():
                if not await self._shelf.put(tenant, changes):
                    return

    def note(self, tenant: str, signs: Sequence[Sign], at: float) -> None:
        """Take in what was seen of agents."""
        if signs:
            self._fleet(tenant).note(signs, at)

    def hear(self, tenant: str, batch: Batch, at: float) -> None:
        """Take in heartbeats and steps of questions to people."""
        if not batch.records:
            return
        self.note(tenant, list(records.beats(batch)), at)
        rows = list(records.approvals(batch, tenant, at))
        if rows:
            self._spawn(self._approve(tenant, rows))

    async def sweep(self) -> None:
        """Look at all agents once."""
        for tenant, fleet in list(self._fleets.items()):
            mode = self.acting(tenant)
            probes = {}
            if self._config.probes and mode is not HealingMode.OFF:
                probes = await self._prober.ask(fleet.providers())
            for actions in fleet.sweeping(self._clock(), mode, probes):
                await self._do(tenant, actions)
        await self._shelf.prune()

    def mode(self, tenant: str) -> HealingMode:
        """See `FleetControl.mode`."""
        return self._modes.get(tenant, self._config.mode)

    def acting(self, tenant: str) -> HealingMode:
        """See `FleetControl.acting`."""
        return self._switches.lowered(tenant, self.mode(tenant))

    def paused_by(self, tenant: str) -> list[str]:
        """See `FleetControl.paused_by`."""
        return self._switches.on(tenant)

    def is_paused(self, tenant: str) -> bool:
        """Say whether any kill switch is on for a tenant."""
        return bool(self._switches.on(tenant))

    def activity(self, tenant: str, days: int) -> Mapping[str, Any]:
        """See `FleetControl.activity`."""
        now = self._clock()
        entries = self._shelf.rows(Table.AUDIT, tenant, since=now - (days + 1) * _DAY)
        agents = self._shelf.rows(Table.CONDITIONS, tenant)
        return activity(
            (row.fields for row in reversed(list(entries))),
            ((row.id, row.fields) for row in agents),
            days=days,
            now=now,
            mode=self.acting(tenant),
        )

    async def set_mode(self, tenant: str, mode: HealingMode, by: str) -> None:
        """See `FleetControl.set_mode`."""
        before = self.mode(tenant)
        self._modes[tenant] = mode
        self._fleet(tenant).write(
            "healing-mode", self._clock(), by, before=before.value, after=mode.value
        )
        await self._keep_settings(tenant)

    async def set_pause(self, tenant: str, *, paused: bool, by: str) -> None:
        """See `FleetControl.set_pause`."""
        self._switches.set(tenant, on=paused)
        self._fleet(tenant).write("kill-switch", self._clock(), by, on=paused)
        await self._keep_settings(tenant)

    async def note_mode(self, tenant: str, mode: Mode, by: str) -> None:
        """See `FleetControl.note_mode`."""
        self._fleet(tenant).write("mode", self._clock(), by, after=mode.label)
        await self._publish(tenant)

    async def pause(self, tenant: str, agent: str, by: str) -> bool:
        """See `FleetControl.pause`."""
        known = self._fleet(tenant).pause(agent, self._clock(), by)
        await self._publish(tenant)
        return known

    async def resume(self, tenant: str, agent: str, by: str) -> bool:
        """See `FleetControl.resume`."""
        known = self._fleet(tenant).resume(agent, self._clock(), by)
        await self._publish(tenant)
        if known and self.acting(tenant) is HealingMode.HEAL:
            self._spawn(self._act(tenant, Action("resume", agent, by)))
        return known

    async def report(self, tenant: str, agent: str, report: Report, by: str) -> None:  # noqa: ARG002 - what is reported is evidence, no action
        """See `FleetControl.report`."""
        self._fleet(tenant).report(agent, report)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._config.sweep_seconds)
            try:
                await self.sweep()
            except Exception:
                self._meters.add("internal_errors_total")
                _logger.exception("a look at the fleet failed")

    async def _approve(self, tenant: str, rows: Sequence[Row]) -> None:
        """Keep steps of questions to people; who answered is what the agent's program says."""
        for row in rows:
            said = {name: row.fields[name] for name in ("step", "scope", "session")}
            self._fleet(tenant).write(
                "approval",
                row.at,
                PROGRAM,
                agent=row.fields["agent"],
                answered_by=row.fields["by"],
                **said,
            )
        await self._publish(tenant, await self._shelf.following(rows))

    async def _do(self, tenant: str, actions: Sequence[Action]) -> None:
        """Keep what was decided, then do it: after a restart of ours nothing is done twice."""
        fleet = self._fleet(tenant)
        rows = [self._row(tenant, SWEPT, {"at": fleet.swept_at})]
        kept = await self._publish(tenant, rows)
        for action in actions:
            if kept:
                self._spawn(self._act(tenant, action))
            else:
                fleet.finished(action, self._clock(), ok=False)

    async def _act(self, tenant: str, action: Action) -> None:
        fleet = self._fleet(tenant)
        state = fleet.agents.get(action.agent)
        how = self._config.of(tenant).action_for(action.agent)
        done = False
        if state is not None and how is not None:
            self._meters.add("fleet_actions_total")
            done = await self._actor.run(action, state.service, state.agent, how)
        fleet.finished(action, self._clock(), ok=done)

    async def _publish(self, tenant: str, rows: Sequence[Row] = ()) -> bool:
        """Keep what changed; return whether it is in the store."""
        return await self._shelf.put(tenant, self._fleet(tenant).take(), rows)

    def _spawn(self, work: Awaitable[Any]) -> None:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._acting.add(task)
        task.add_done_callback(self._acting.discard)

    async def _keep_settings(self, tenant: str) -> None:
        paused = "api" in self._switches.on(tenant)
        row = self._row(tenant, HEALING, {"mode": self.mode(tenant).value, "paused": paused})
        if not await self._publish(tenant, [row]):
            raise StoreError("it holds now, but the store failed: it may not outlive a restart")

    def _row(self, tenant: str, name: str, fields: Mapping[str, Any]) -> Row:
        return Row(table=Table.FLEET, tenant=tenant, id=name, at=self._clock(), fields=fields)

    def _fleet(self, tenant: str) -> Fleet:
        fleet = self._fleets.get(tenant)
        if fleet is None:
            config = self._config.of(tenant)

            def seconds(agent: str) -> float | None:
                how = config.action_for(agent)
                return how.timeout_seconds if how is not None else None

            fleet = self._fleets[tenant] = Fleet(
                tenant,
                config,
                now=self._clock(),
                mode=self.acting(tenant),
                heartbeat_seconds=self._heartbeat_seconds,
                action_seconds=seconds,
                on_error=self._fail,
            )
        return fleet

    def _fail(self, agent: str, error: Exception) -> None:
        self._meters.add("internal_errors_total")
        _logger.warning("agent %r cannot be judged: %r", agent, error)
