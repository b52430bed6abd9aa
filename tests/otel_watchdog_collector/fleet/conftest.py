"""A fleet on a clock that is moved by hand, told of by steps as the scenarios have them."""

from collections import Counter
from typing import Any

import pytest

from otel_watchdog_collector.fleet.reconciler import Fleet
from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import (
    Beat,
    Credential,
    HealingMode,
    Probe,
    Report,
    Sign,
    SignKind,
)

START = 1_790_000_000.0
LONG_AGO = -10_000_000.0


class Bench:
    """Runs steps; times in them are seconds from `START`.

    Args:
        settings: The fleet's.
        mode: What may be done.
    """

    def __init__(self, settings: dict[str, Any], mode: str) -> None:
        self.config = FleetConfig.model_validate({"sweep_seconds": 3600, **settings})
        self.mode = HealingMode(mode)
        self.now = 0.0
        self.errors: list[str] = []
        self.actions: list[Any] = []
        self.audit: list[str] = []
        self.entries: list[Any] = []
        self.rows: dict[str, Any] = {}
        self.incidents: dict[str, Any] = {}
        self.returns = True
        self.keeps: dict[str, str] = {}
        self.probes: dict[str, Probe] = {}
        self.asked: list[set[str]] = []
        self.fleet = self._make(LONG_AGO)

    def step(self, step: dict[str, Any]) -> None:
        """Do what one step says, in the order of its keys; a sweep comes last.

        With `every`, looks are taken so many seconds apart, from the last step to this one.
        """
        every = step.get("every")
        while every is not None and self.now + every < step["at"]:
            self.now += every
            self.sweep()
        self.now = step.get("at", self.now)
        for name, given in step.items():
            if name not in {"at", "every", "of", "sweep", "expect"}:
                getattr(self, name)(given)
        if step.get("sweep"):
            self.sweep()
        for name, wanted in step.get("expect", {}).items():
            assert (name, self.told(name, step)) == (name, wanted)

    def sweep(self) -> None:
        """Let agents do what they keep doing, look at them, and run actions."""
        for agent, does in self.keeps.items():
            self._be(agent, does)
        self.asked.append(self.fleet.providers())
        actions = self.fleet.sweep(START + self.now, self.mode, self.probes)
        self.actions += actions
        if self.returns:
            for action in actions:
                self.fleet.finished(action, START + self.now, ok=True)
        self.take()

    def take(self) -> None:
        """Keep what changed."""
        changes = self.fleet.take()
        self.entries += changes.audit
        self.audit += [entry.action for entry in changes.audit]
        self.rows |= {state.id: state.fields() for state in changes.agents}
        self.incidents |= {incident.id: incident.fields() for incident in changes.incidents}

    # What steps say.

    def be(self, agents: dict[str, str]) -> None:
        """Have agents do something before each sweep: `ready`, `hung`, `nothing`."""
        self.keeps |= agents

    def see(self, signs: list[dict[str, Any]]) -> None:
        """Let spans come: `agent`, `kind`, `ago`, `times`, `text`, `provider`."""
        for one in signs:
            service, _, agent = one.get("agent", "shop/a").partition("/")
            provider, text = one.get("provider", "anthropic"), one.get("text", "")
            sign = Sign(service, agent, SignKind(one["kind"]), provider, text)
            at = START + self.now - one.get("ago", 0)
            self.fleet.note([sign] * one.get("times", 1), at)

    def beat(self, said: dict[str, Any]) -> None:
        """Let a heartbeat come: its facts, `agent`, `ago`."""
        said = dict(said)
        service, _, agent = said.pop("agent", "shop/a").partition("/")
        at = START + self.now - said.pop("ago", 0)
        for name in {"names", "ages"} & said.keys():
            said[name] = tuple(said[name])
        beat = Beat(**said)
        self.fleet.note([Sign(service, agent, SignKind.HEARTBEAT, beat=beat)], at)

    def report(self, said: dict[str, Any]) -> None:
        """Let an orchestrator speak of an agent; `launched_ago` is when it was started."""
        said = dict(said)
        agent = said.pop("agent", "shop/a")
        if "launched_ago" in said:
            said["started_at"] = START + self.now - said.pop("launched_ago")
        if "credential" in said:
            said["credential"] = Credential(said["credential"])
        self.fleet.report(agent, Report(**said))

    def probe(self, answers: dict[str, bool | None]) -> None:
        """Have providers answer."""
        self.probes = {name: Probe(ok, "told") for name, ok in answers.items()}

    def set(self, mode: str) -> None:
        """Change what may be done."""
        self.mode = HealingMode(mode)

    def resume(self, agent: str) -> None:
        """Let a person resume an agent."""
        assert self.fleet.resume(agent, START + self.now, "ada")

    def pause(self, agent: str) -> None:
        """Let a person pause an agent."""
        assert self.fleet.pause(agent, START + self.now, "ada")

    def hang(self, hangs: bool) -> None:
        """Have restarts hang from now on, or come back, those in work too."""
        self.returns = not hangs
        if not hangs:
            for action in self.actions:
                self.fleet.finished(action, START + self.now, ok=True)

    def restart(self, what: str) -> None:
        """End the service and start it again, with what was kept; or with a row that is `broken`."""
        self.take()
        self.fleet = self._make(self.now)
        for agent, fields in self.rows.items():
            if what == "broken":
                fields["kept"]["evidence"]["refused"] = "many"
            self.fleet.restore(agent, fields, may_act=self.mode is HealingMode.HEAL)
        for incident in self.incidents.values():
            if incident["state"] == "open":
                self.fleet.incidents.restore(incident["kept"])
        if what == "broken":
            self.rows.clear()

    # What is expected.

    def told(self, name: str, step: dict[str, Any]) -> Any:
        """Return what is known of something, as the data spell it."""
        agent = step.get("of", "shop/a")
        state = self.fleet.agents.get(agent)
        taken = Counter(action.kind for action in self.actions)
        if name in {"Ready", "Authenticated", "Producing"}:
            row = self.rows.get(agent, {"conditions": ()})
            found = {one["type"]: f"{one['status']}/{one['reason']}" for one in row["conditions"]}
            return found.get(name)
        return {
            "conditions": lambda: len(self.rows.get(agent, {"conditions": ()})["conditions"]),
            "restarts": lambda: taken["restart"],
            "pauses": lambda: taken["pause"],
            "failures": lambda: state.ladder.failures if state else None,
            "shadow": lambda: state.shadow.failures if state else None,
            "audit": lambda: dict(Counter(self.audit)),
            "open": lambda: sorted(one.kind.value for one in self.fleet.incidents.open),
            "ever": lambda: sorted(one["kind"] for one in self.incidents.values()),
            "asked": lambda: sorted(self.asked[-1]),
            "errors": lambda: len(self.errors),
            "message": lambda: {
                one["type"]: one["message"] for one in self.rows[agent]["conditions"]
            },
        }[name]()

    def _make(self, listening_since: float) -> Fleet:
        return Fleet(
            "t",
            self.config,
            now=START + listening_since,
            mode=self.mode,
            on_error=lambda agent, _: self.errors.append(agent),
        )

    def _be(self, agent: str, does: str) -> None:
        if does == "ready":
            self.beat({"agent": agent, "open_spans": 1, "idle_seconds": 2.0})
        elif does == "hung":
            self.beat({"agent": agent, "open_spans": 1, "idle_seconds": 10_000.0})


@pytest.fixture
def bench():
    """Return what makes benches: settings and mode."""
    return lambda settings=None, mode="heal": Bench(settings or {}, mode)
