"""One tenant's fleet: evidence in; conditions, actions, audit and incidents out.

Pure: no thread, I/O or clock of its own. Whoever calls `sweep` hands in the time and runs the
actions that it returns; whatever is to be kept or told is there to `take`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from otel_watchdog_collector.fleet.agents import AgentState, Pause, thawed
from otel_watchdog_collector.fleet.alarms import Alarms
from otel_watchdog_collector.fleet.healer import Action, Healer
from otel_watchdog_collector.fleet.incidents import Incident, IncidentKind, Incidents
from otel_watchdog_collector.fleet.judging import Judge
from otel_watchdog_collector.fleet.liveness import Moment, classify
from otel_watchdog_collector.fleet.roster import Roster
from otel_watchdog_collector.fleet.scribe import Detail, Scribe
from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import (
    AuditEntry,
    HealingMode,
    Liveness,
    Probe,
    Report,
    Sign,
    SignKind,
)

GAP_SWEEPS: Final = 2
"""Looks that may be late before what was between counts as not seen."""

KEPT_SECONDS: Final = 120.0
"""After which an agent is kept again though nothing but its evidence is new."""

KEPT_AT_ONCE: Final = 1000
"""Agents that are handed out together when all are to be kept."""

SILENT_SECONDS: Final = 60.0
"""A shorter silence between two signs ends nothing."""

PART: Final = 100
"""Agents that are judged at a stretch."""

_TELLING: Final = frozenset({SignKind.HEARTBEAT, SignKind.REFUSED})
"""Signs that may tell of trouble."""

PERSON: Final = "person"
"""What paused an agent, where the watchdog did not."""


class Changes(NamedTuple):
    """What is to be kept."""

    agents: list[AgentState]
    incidents: list[Incident]
    audit: list[AuditEntry]


class Fleet:
    """Judges the agents of one tenant.

    Args:
        tenant: Its name.
        config: Settings.
        now: When listening began: silence from before proves nothing.
        mode: What may be done; default: what the settings say.
        heartbeat_seconds: After which a heartbeat is old.
        action_seconds: Returns the time limit of an agent's actions; `None`: there is no way to
            act on it.
        on_error: Called with an agent's id and what failed while it was judged.
    """

    def __init__(  # noqa: PLR0913 - each has a meaning of its own
        self,
        tenant: str,
        config: FleetConfig,
        *,
        now: float,
        mode: HealingMode | None = None,
        heartbeat_seconds: float = 90.0,
        action_seconds: Callable[[str], float | None] = lambda _: 90.0,
        on_error: Callable[[str, Exception], None] = lambda _, __: None,
    ) -> None:
        self.roster = Roster(config)
        self.incidents = Incidents(config)
        self.mode = config.mode if mode is None else mode
        """What may be done, with every kill switch heeded, as of the last sweep."""
        self._config = config
        self._heartbeat_seconds = heartbeat_seconds
        self._on_error = on_error
        self._listening_since = now
        self.swept_at: float | None = None
        """When all agents were last looked at."""
        self._changed: dict[str, AgentState] = {}
        self._scribe = Scribe(tenant)
        self._alarms = Alarms(
            self.incidents, self._scribe, self.roster.provider, self.roster.population
        )
        self._healer = Healer(config, self._scribe, self._alarms, action_seconds)
        self._judge = Judge(config, self._scribe, self._alarms, self._healer)

    @property
    def agents(self) -> Mapping[str, AgentState]:
        """All that are known, by id."""
        return self.roster.agents

    def note(self, signs: Iterable[Sign], at: float) -> None:
        """Take in what was seen of agents.

        Args:
            signs: In order.
            at: When they came.
        """
        for sign in signs:
            state = self.roster.of(sign.id, sign.service, sign.agent or sign.service)
            seen_at = state.evidence.last_seen_at
            if seen_at is None or at - seen_at >= SILENT_SECONDS:
                self._break_health(state, at)
            state.evidence.take(sign, at)
            if sign.kind in _TELLING:
                self._break_health(state, at)
            if self.roster.is_full:
                self._forget(self.roster.oldest(), at)

    def report(self, agent: str, report: Report) -> None:
        """Take in what an orchestrator says of an agent; it replaces what it said before."""
        state = self.roster.of(agent)
        state.evidence.report = report
        self._changed[agent] = state
        if self.roster.is_full:
            self._forget(self.roster.oldest(), self.swept_at or 0.0)

    def providers(self) -> set[str]:
        """Return the providers of the agents, for probes: one a sweep for all of them."""
        found = {self.roster.provider(state) for state in self.agents.values()}
        return {provider for provider in found if provider is not None}

    def sweep(
        self, now: float, mode: HealingMode, probes: Mapping[str, Probe] | None = None
    ) -> list[Action]:
        """Judge all agents; return what is to be done.

        Args:
            now: In seconds since the epoch.
            mode: What may be done now, with every kill switch heeded.
            probes: What providers answered, by name.
        """
        return [action for actions in self.sweeping(now, mode, probes) for action in actions]

    def sweeping(
        self, now: float, mode: HealingMode, probes: Mapping[str, Probe] | None = None
    ) -> Iterator[list[Action]]:
        """Do as `sweep`, a part at a time: yield what is to be done after each part."""
        self._set_mode(mode)
        if mode is HealingMode.OFF:
            self.swept_at = None
            return
        gap = GAP_SWEEPS * self._config.sweep_seconds
        if self.swept_at is not None and now - self.swept_at > gap:
            self._listening_since = now
        self.swept_at = now
        moment = self._moment(now)
        self.roster.count()
        actions: list[Action] = []
        for number, state in enumerate(list(self.agents.values()), start=1):
            if number % PART == 0:
                yield actions
                actions = []
            if self.roster.is_part(state):
                continue
            if self.roster.is_long_gone(state, now):
                self._forget(state, now)
                continue
            before = state.mark()
            try:
                probe = probes.get(self.roster.provider(state) or "") if probes else None
                self._judge.judge(state, moment, probe, gap)
                planned = self._healer.plan(state, mode, now, self.roster.restarting)
            except Exception as error:  # noqa: BLE001 - one agent must not hide the others
                self._on_error(state.id, error)
                continue
            actions += planned
            if before != state.mark() or now - state.kept_at >= KEPT_SECONDS:
                self._changed[state.id] = state
        yield actions

    def finished(self, action: Action, now: float, *, ok: bool) -> None:
        """Note that an action came to its end; a restart that worked begins a boot."""
        state = self.agents.get(action.agent)
        if state is None or action.kind != "restart":
            return
        state.restarting_since = None
        if ok:
            state.evidence.started_at = now
            state.evidence.stopped = False
        if state.is_wedged:
            state.is_wedged = False
            self._alarms.clear(IncidentKind.WEDGE, state, now)
        self._changed[state.id] = state

    def pause(self, agent: str, now: float, by: str) -> bool:
        """Leave an agent alone; false if it is not known."""
        state = self.agents.get(agent)
        if state is None:
            return False
        if state.paused is None:
            state.paused = Pause(at=now, trigger=PERSON, by=by)
            self._scribe.write("pause", now, by=by, agent=agent)
            self._changed[agent] = state
        return True

    def resume(self, agent: str, now: float, by: str) -> bool:
        """Let an agent be healed again: it has one attempt; false if it is not known."""
        state = self.agents.get(agent)
        if state is None:
            return False
        trigger = state.paused.trigger if state.paused is not None else None
        state.paused = None
        for ladder in (state.ladder, state.shadow):
            if ladder.crash_looping:
                ladder.rearm(self._config.crash_loop_after)
        self._alarms.clear(IncidentKind.CRASH_LOOP, state, now)
        self._scribe.write("resume", now, by=by, agent=agent, trigger=trigger)
        self._changed[agent] = state
        return True

    def restore(
        self,
        agent: str,
        fields: Mapping[str, Any],
        *,
        may_act: bool,
        swept_at: float | None = None,
    ) -> None:
        """Go on with an agent as it was kept; one that cannot be read begins anew.

        Args:
            agent: Its id.
            fields: Of its row.
            may_act: Whether healing is allowed.
            swept_at: When all agents were last looked at.
        """
        try:
            state = self.roster.agents[agent] = thawed(agent, fields, may_act=may_act)
            if state.swept_at is not None and swept_at is not None:
                state.swept_at = max(state.swept_at, swept_at)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            self._on_error(agent, error)

    def write(
        self, action: str, now: float, by: str, agent: str | None = None, **detail: Detail
    ) -> None:
        """Write down what a person did."""
        self._scribe.write(action, now, by=by, agent=agent, **detail)

    def take(self) -> Changes:
        """Return what changed since this was asked last."""
        agents = list(self._changed.values())
        for state in agents:
            state.kept_at = self.swept_at or 0.0
        self._changed = {}
        return Changes(agents, self.incidents.take(), self._scribe.take())

    def take_all(self) -> Iterator[Changes]:
        """Yield everything, changed or not, a part at a time: the service ends now."""
        known = list(self.agents.items())
        for first in range(0, len(known) or 1, KEPT_AT_ONCE):
            self._changed = dict(known[first : first + KEPT_AT_ONCE])
            yield self.take()

    def _set_mode(self, mode: HealingMode) -> None:
        """Begin with empty ladders whenever healing begins or ends."""
        if (self.mode is HealingMode.HEAL) is not (mode is HealingMode.HEAL):
            for state in self.agents.values():
                state.ladder.clear()
                state.shadow.clear()
                self._changed[state.id] = state
        self.mode = mode

    def _break_health(self, state: AgentState, at: float) -> None:
        """End the stretch of health of an agent that is not ready between two looks."""
        if state.healthy_since is None:
            return
        verdict = classify(state.evidence, self._config.declared(state.id), self._moment(at))
        if verdict.liveness is not Liveness.READY:
            state.healthy_since = None

    def _moment(self, now: float) -> Moment:
        return Moment(now, self._listening_since, self._config, self._heartbeat_seconds)

    def _forget(self, state: AgentState, now: float) -> None:
        for kind in IncidentKind:
            self._alarms.clear(kind, state, now)
        self.roster.agents.pop(state.id, None)
        self._changed.pop(state.id, None)
