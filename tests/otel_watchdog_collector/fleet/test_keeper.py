"""What the keeper promises: a decision is kept before it is acted upon."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from otel_watchdog_collector.facts import Table
from otel_watchdog_collector.fleet import Actor, AuditFile, Keeper, Prober, Shelf, Switches, shelf
from otel_watchdog_collector.fleet_config import ActionConfig, FleetConfig
from otel_watchdog_collector.health import Beat, HealingMode, Sign, SignKind
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.stores import MemoryStore, StoreError

START = 1_790_000_000.0
HUNG = Sign("shop", "a", SignKind.HEARTBEAT, beat=Beat(open_spans=1, idle_seconds=4000.0))


class World:
    """A keeper with a store that may fail, on a clock that is moved by hand."""

    def __init__(self, folder, **settings):
        self.now = START
        self.told = folder / "told"
        self.audit = folder / "audit.jsonl"
        script = (
            "import os; open(r'"
            + str(self.told)
            + "', 'a').write(os.environ['OTEL_WATCHDOG_AGENT'])"
        )
        action = {"command": [sys.executable, "-c", script]}
        self.config = FleetConfig.model_validate(
            {"mode": "heal", "action": action, "boot_grace_seconds": 0, **settings}
        )
        self.store = MemoryStore()
        self.meters = Meters()
        self.fails = False
        self.seen: list[bool] = []

    def keeper(self):
        """Return a keeper, with what the store holds."""
        file = AuditFile(self.audit, max_bytes=1 << 20, keep_days=90)
        made = Keeper(
            Shelf(self.store, self.keep, file, lambda: self.now, self.meters),
            self.config,
            clock=lambda: self.now,
            meters=self.meters,
            switches=Switches(by_environment=lambda: False),
            heartbeat_seconds=90,
            actor=Actor(lambda: self.now),
            prober=Prober({}),
        )
        made.recover()
        return made

    async def keep(self, rows):
        """Keep rows, or fail."""
        self.seen.append(self.told.exists())
        if self.fails:
            raise StoreError("planted")
        self.store.commit(rows=rows)

    async def look(self, keeper, at):
        """Look at all agents; wait for what is done."""
        self.now = START + at
        keeper.note("t", [HUNG], self.now)
        await keeper.sweep()
        while keeper._acting:
            await asyncio.gather(*keeper._acting)


@pytest.fixture
def world(tmp_path):
    """Return what makes worlds."""
    return lambda **settings: World(tmp_path, **settings)


def test_a_decision_is_in_the_store_before_it_is_acted_upon(world):
    """Killed in between, the service does not restart the agent a second time."""
    made = world()

    async def live():
        await made.look(made.keeper(), 0)
        await made.look(made.keeper(), 1)  # another process, with what was kept

    asyncio.run(live())

    assert made.seen[0] is False
    assert made.told.read_text("utf-8") == "a"
    row = made.store.row(Table.CONDITIONS, "t", "shop/a")
    assert row is not None
    assert row.fields["ladder"]["failures"] == 1


def test_what_cannot_be_kept_is_not_done(world):
    """While the store fails nobody is restarted; afterwards, at the ladder's next step."""
    made = world()

    async def live():
        keeper = made.keeper()
        made.fails = True
        await made.look(keeper, 0)
        before = made.told.exists()
        made.fails = False
        await made.look(keeper, 60)
        return before

    assert asyncio.run(live()) is False
    assert made.told.read_text("utf-8") == "a"


def test_a_store_that_does_not_answer_holds_up_no_other_fleet(world, monkeypatch):
    """After some seconds the decision is dropped."""
    monkeypatch.setattr(shelf, "KEEP_SECONDS", 0.05)
    made = world()

    async def live():
        keeper = made.keeper()
        keeper._shelf._keep = lambda _: asyncio.Event().wait()
        await made.look(keeper, 0)

    asyncio.run(live())

    assert not made.told.exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are seen in /proc")
def test_the_end_of_the_service_waits_for_no_command(world):
    """One that hangs is ended with it; the next start goes on from the ladder."""
    made = world()
    script = (
        "import os, time; open(r'"
        + str(made.told)
        + "', 'w').write(str(os.getpid())); time.sleep(600)"
    )
    action = {"command": [sys.executable, "-c", script]}
    made.config = made.config.model_copy(update={"action": ActionConfig.model_validate(action)})

    async def live():
        keeper = made.keeper()
        keeper.start()
        keeper.note("t", [HUNG], made.now)
        await keeper.sweep()
        await asyncio.to_thread(_wait_for, made.told)
        await keeper.close(0.05)

    asyncio.run(live())

    assert not Path(f"/proc/{made.told.read_text('utf-8')}").exists()
    again = made.keeper()
    assert again._fleet("t").agents["shop/a"].ladder.failures == 1


def test_an_audit_file_that_cannot_be_written_stops_nothing(world, caplog):
    """The store has the entries; the failure is counted and told."""
    made = world()
    made.audit.mkdir()

    asyncio.run(made.look(made.keeper(), 0))

    assert made.told.read_text("utf-8") == "a"
    assert made.meters["internal_errors_total"] == 1
    assert "the audit file cannot be written" in caplog.text
    assert made.store.tenants(Table.AUDIT) == ["t"]


def test_agents_that_may_not_be_healed_are_observed(world):
    """Whose pattern says so, and those for which there is no way to act."""
    forbidden = world(agents=[{"match": "shop/*", "heal": False}])
    helpless = world(action=None)

    for made in (forbidden, helpless):
        asyncio.run(made.look(made.keeper(), 0))

        actions = [row.fields["action"] for row in _audit(made)]
        assert actions == ["watchdog-restart-observed"]
        assert not made.told.exists()


def test_an_action_of_its_own_comes_before_the_fleets(world, tmp_path):
    """By the first pattern that fits, of the tenant's own."""
    own = f"open(r'{tmp_path / 'own'}', 'w').write('x')"
    action = {"command": [sys.executable, "-c", own]}
    agents = [
        {"match": "shop/*", "tenant": "other", "heal": False},
        {"match": "shop/a", "action": action},
    ]
    made = world(agents=agents)

    asyncio.run(made.look(made.keeper(), 0))

    assert (tmp_path / "own").exists()
    assert not made.told.exists()


def test_what_people_set_is_known_again(world):
    """Mode and switch of each tenant; healing does not begin by itself."""
    made = world(mode="observe")

    async def live():
        keeper = made.keeper()
        await keeper.set_mode("t", HealingMode.HEAL, "ada")
        await keeper.set_pause("t", paused=True, by="ada")
        return made.keeper()

    again = asyncio.run(live())

    assert (again.mode("t"), again.acting("t")) == (HealingMode.HEAL, HealingMode.OBSERVE)
    assert again.paused_by("t") == ["api"]
    assert (again.mode("u"), again.paused_by("u")) == (HealingMode.OBSERVE, [])
    assert [(row.fields["action"], row.fields["user"]) for row in _audit(made)] == [
        ("kill-switch", "ada"),
        ("healing-mode", "ada"),
    ]


def test_a_switch_that_cannot_be_kept_holds_and_says_so(world):
    """Who turned it must know that a restart of the service may turn it back."""
    made = world()
    made.fails = True
    keeper = made.keeper()

    with pytest.raises(StoreError, match="it holds now"):
        asyncio.run(keeper.set_pause("t", paused=True, by="ada"))

    assert keeper.acting("t") is HealingMode.OBSERVE


def test_a_row_of_another_version_hides_no_other(world):
    """The agent begins anew, and that is counted."""
    made = world()
    asyncio.run(made.look(made.keeper(), 0))
    row = made.store.row(Table.CONDITIONS, "t", "shop/a")
    assert row is not None
    row.fields["kept"]["evidence"]["new_in_version_9"] = 1
    made.store.commit(rows=[row])

    keeper = made.keeper()
    asyncio.run(made.look(keeper, 120))

    assert made.meters["internal_errors_total"] == 1
    assert keeper._fleet("t").agents["shop/a"].ladder.failures == 1


def _audit(made):
    return list(Shelf(made.store, made.keep, None, lambda: 0.0, made.meters).rows(Table.AUDIT, "t"))


def _wait_for(file):
    """Wait until a command has written its file."""
    pause = threading.Event()
    for _ in range(2000):
        if file.exists() and file.read_text("utf-8"):
            return
        pause.wait(0.01)
