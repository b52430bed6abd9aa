"""Troubles of whole fleets, replayed through OTLP, journal and engine, on a clock moved by hand."""

import asyncio
import itertools
import sys
from collections import Counter

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from otel_watchdog import semconv
from otel_watchdog_collector.config import load
from otel_watchdog_collector.facts import Entry, Kind, Table
from otel_watchdog_collector.fleet import Actor, AuditFile, Keeper, Prober, Shelf, Switches
from otel_watchdog_collector.health import Report
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline import Intake
from otel_watchdog_collector.stores import MemoryStore
from otel_watchdog_collector.stores.base import Query
from otel_watchdog_collector.wire import Limits, decode

START = 1_790_000_000.0
SECOND = 1_000_000_000
REFUSED = "AuthenticationError", "Error code: 401 - invalid x-api-key sk-ant-planted0123456789"
DOWN = "InternalServerError", "Error code: 529 - overloaded_error"
RESTART = (
    "import os; e = os.environ; "
    "open(e['ACTED'], 'a').write(e['OTEL_WATCHDOG_ACTION'] + ' ' + e['OTEL_WATCHDOG_AGENT'] + '\\n')"
)


class Replay:
    """A service without its doors: what comes in is OTLP, what goes out is told by `acted`.

    Args:
        folder: Where actions and the audit are written.
        settings: Under `fleet`.
    """

    def __init__(self, folder, **settings):
        action = {"command": [sys.executable, "-c", RESTART]}
        fleet = {"mode": "heal", "action": action, "boot_grace_seconds": 0, **settings}
        self.config = load(None, {"fleet": fleet, "store": "memory:"}).config
        self.folder = folder
        self.store = MemoryStore()
        self.now = START
        self.numbers = itertools.count(1)

    async def open(self):
        """Begin, with what the store holds."""
        meters = Meters()
        self.intake = Intake(
            self.store,
            self.config,
            clock=lambda: self.now,
            meters=meters,
            publish=lambda *_: None,
            on_judged=self._hear,
            on_signs=self._note,
        )
        file = AuditFile(self.folder / "audit.jsonl", max_bytes=1 << 20, keep_days=90)
        self.keeper = Keeper(
            Shelf(self.store, self.intake.keep, file, lambda: self.now, meters),
            self.config.fleet,
            clock=lambda: self.now,
            meters=meters,
            switches=Switches(),
            heartbeat_seconds=90,
            actor=Actor(lambda: self.now),
            prober=Prober({}),
        )
        await self.intake.recover()
        self.keeper.recover()
        self.intake.start()

    async def close(self):
        """End, as a process does that is told to."""
        await self._acted()
        for tenant in list(self.keeper._fleets):
            await self.keeper._publish(tenant)
        await self.intake.close()

    async def look(self):
        """Look at all agents; wait for what is done to them."""
        await self.keeper.sweep()
        await self._acted()

    async def call(self, agent, error=None, provider="anthropic"):
        """Let an agent make a model call."""
        number = next(self.numbers)
        made = ExportTraceServiceRequest()
        group = made.resource_spans.add()
        pair(group.resource.attributes, "service.name", "shop")
        part = group.scope_spans.add()
        part.scope.name = "opentelemetry.instrumentation.test_agent"
        span = part.spans.add()
        span.name = "chat m"
        span.trace_id, span.span_id = number.to_bytes(16), (number << 32).to_bytes(8)
        span.start_time_unix_nano = int(self.now - 1) * SECOND
        span.end_time_unix_nano = int(self.now) * SECOND
        pair(span.attributes, "gen_ai.operation.name", "chat")
        pair(span.attributes, "gen_ai.request.model", "m")
        pair(span.attributes, "gen_ai.provider.name", provider)
        pair(span.attributes, "gen_ai.agent.name", agent)
        pair(span.attributes, "gen_ai.conversation.id", agent)
        if error is not None:
            pair(span.attributes, "error.type", error[0])
            span.status.code = Status.STATUS_CODE_ERROR
            span.status.message = error[1]
        await self._submit(Kind.TRACES_PROTOBUF, made)

    async def beat(self, *agents, idle=2.0, open_spans=1):
        """Let heartbeats come."""
        made = ExportLogsServiceRequest()
        group = made.resource_logs.add()
        pair(group.resource.attributes, "service.name", "shop")
        part = group.scope_logs.add()
        for agent in agents:
            record = part.log_records.add()
            record.event_name = semconv.HEARTBEAT_EVENT
            record.time_unix_nano = int(self.now) * SECOND
            pair(record.attributes, "gen_ai.agent.name", agent)
            for key, number in (
                (semconv.HEARTBEAT_OPEN_SPANS, open_spans),
                (semconv.HEARTBEAT_IDLE_SECONDS, idle),
            ):
                made_pair = record.attributes.add()
                made_pair.key = key
                made_pair.value.double_value = number
        await self._submit(Kind.LOGS_PROTOBUF, made)

    def acted(self):
        """Return what was done: action and agent, in order."""
        file = self.folder / "acted"
        return (
            [line.split(" ", 1) for line in file.read_text("utf-8").splitlines()]
            if file.exists()
            else []
        )

    def rows(self, table):
        """Return what a table holds."""
        return self.store.rows(Query(table, "default", limit=10_000))

    def status(self, agent, kind):
        """Return a condition as `status/reason`."""
        row = self.store.row(Table.CONDITIONS, "default", f"shop/{agent}")
        assert row is not None
        found = next(one for one in row.fields["conditions"] if one["type"] == kind)
        return f"{found['status']}/{found['reason']}"

    def _hear(self, *given):
        self.keeper.hear(*given)

    def _note(self, *given):
        self.keeper.note(*given)

    async def _submit(self, kind, made):
        body = made.SerializeToString()
        batch = decode(kind, body, Limits(), plain=lambda _: frozenset())
        await self.intake.submit(Entry(kind, "default", self.now, body), batch)

    async def _acted(self):
        while self.keeper._acting:
            await asyncio.gather(*self.keeper._acting)


def pair(target, key, value):
    """Add a text attribute."""
    made = target.add()
    made.key = key
    made.value.string_value = value


@pytest.fixture
def replay(tmp_path, monkeypatch):
    """Return what makes replays."""
    monkeypatch.setenv("ACTED", str(tmp_path / "acted"))
    return lambda **settings: Replay(tmp_path, **settings)


def test_a_restart_storm_ends_by_itself(replay):
    """Six agents die together and stay dead, the service is restarted in between.

    Each is restarted five times, spaced, then paused; people hear of it once.
    """
    world = replay(max_restarts_at_once=3, sweep_seconds=60)
    agents = [f"a{number}" for number in range(6)]

    async def live():
        await world.open()
        await world.beat(*agents)
        for minute in range(120):
            world.now = START + minute * 60
            if minute == 20:
                await world.close()
                await world.open()
            await world.look()
        await world.close()

    asyncio.run(live())

    done = Counter(tuple(one) for one in world.acted())
    assert done == {
        (action, agent): times
        for agent in agents
        for action, times in (("restart", 5), ("pause", 1))
    }
    (incident,) = world.rows(Table.INCIDENTS)
    assert (incident.fields["kind"], incident.fields["fleet_wide"]) == ("crash-loop", True)
    assert sorted(incident.fields["agents"]) == [f"shop/{agent}" for agent in agents]
    assert world.status("a0", "Ready") == "False/no-session"
    assert world.store.row(Table.CONDITIONS, "default", "shop/a0").fields["state"] == "crash-loop"


def test_a_credential_that_the_fleet_shares_fails_once(replay):
    """Seven of eight agents of one provider are refused within minutes: one incident, no restart."""
    world = replay(sweep_seconds=60)
    agents = [f"a{number}" for number in range(8)]

    async def live():
        await world.open()
        for minute in range(60):
            world.now = START + minute * 60
            await world.beat(*agents, "other")
            await world.call("other", provider="openai")
            for number, agent in enumerate(agents):
                refused = 10 <= minute - number // 2 < 40 and agent != "a7"
                await world.call(agent, REFUSED if refused else None)
            await world.look()
            if minute == 30:
                world.seen = [world.status(agent, "Authenticated") for agent in [*agents, "other"]]
        await world.close()

    asyncio.run(live())

    assert world.seen == ["False/CredentialRefused"] * 7 + ["True/CallAccepted"] * 2
    assert world.acted() == []
    (incident,) = world.rows(Table.INCIDENTS)
    facts = incident.fields
    assert (facts["kind"], facts["scope"], facts["fleet_wide"]) == ("auth", "anthropic", True)
    assert "owner and mode of the credential's file" in facts["cause"]
    assert facts["state"] == "closed"
    assert world.status("a0", "Authenticated") == "True/CallAccepted"
    assert "planted" not in repr(world.rows(Table.CONDITIONS)) + repr(world.rows(Table.AUDIT))


def test_an_outage_of_the_provider_restarts_nobody(replay):
    """All agents fail at it, and back off in open runs for longer than a hung one may."""
    world = replay(sweep_seconds=60)
    agents = [f"a{number}" for number in range(5)]

    async def live():
        await world.open()
        for minute in range(90):
            world.now = START + minute * 60
            down = 10 <= minute < 60
            for agent in agents:
                if not down or minute < 14:
                    await world.call(agent, DOWN if down else None)
            await world.beat(*agents, idle=(minute - 13) * 60.0 if 14 <= minute < 60 else 1.0)
            await world.look()
            if minute == 40:
                world.seen = {world.status(agent, "Producing") for agent in agents}
                world.ready = {world.status(agent, "Ready") for agent in agents}
        await world.close()

    asyncio.run(live())

    assert world.seen == {"False/ProviderInferenceError"}
    assert world.ready == {"Unknown/unknown"}
    assert world.acted() == []
    (incident,) = world.rows(Table.INCIDENTS)
    facts = incident.fields
    assert (facts["kind"], facts["fleet_wide"], facts["state"]) == (
        "provider-outage",
        True,
        "closed",
    )
    assert {world.status(agent, "Producing") for agent in agents} == {"True/RecentProduction"}


@pytest.mark.parametrize("says_goodbye", [True, False])
def test_a_daily_lane_is_left_alone_until_it_misses_its_day(replay, says_goodbye):
    """Half an hour of work a day for three days; on the fourth it does not come."""
    declared = {"match": "shop/lane", "cadence_seconds": 86_400}
    world = replay(sweep_seconds=900, agents=[declared])
    statuses = {}

    async def live():
        await world.open()
        for step in range(4 * 96):
            world.now = START + step * 900
            day, part = divmod(step, 96)
            if part < 2 and day < 3:
                await world.beat("lane")
                await world.call("lane")
            if part == 2 and day < 3 and says_goodbye:
                await world.beat("lane", open_spans=0)
            report = Report(queued=1)
            await world.keeper.report("default", "shop/lane", report, "scheduler")
            await world.look()
            statuses[step] = (world.status("lane", "Ready"), world.status("lane", "Producing"))
        await world.close()

    asyncio.run(live())

    before = {producing for step, (_, producing) in statuses.items() if step < 3 * 96}
    assert before == {"True/RecentProduction", "True/WithinCadence"}
    assert statuses[4 * 96 - 1][1] == "False/NoRecentProduction"
    assert world.acted() == []
    (incident,) = world.rows(Table.INCIDENTS)
    assert (incident.fields["kind"], incident.fields["state"]) == ("not-producing", "open")
    missed = next(step for step, (_, now) in statuses.items() if now.startswith("False"))
    last_work = 2 * 96 + 1
    assert (missed - last_work) * 900 == 30 * 3600
