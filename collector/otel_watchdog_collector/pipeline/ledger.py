"""What there is to see of a tenant: rows of agents, sessions, runs, corrections and findings."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, TypeVar

from otel_watchdog import semconv
from otel_watchdog.model import (
    Correction,
    Finding,
    ModelTurn,
    Observation,
    RunEnded,
    RunStarted,
    ToolResult,
)
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.pipeline import run_figures

MAX_AGENTS: Final = 20_000
"""Agents of a tenant that are kept in memory; the least recently heard of is dropped first."""

MAX_NUMBER: Final = 1_000_000_000


_Number = TypeVar("_Number", int, float)


class Ledger:
    """Gathers rows; what changes often is written once for many changes.

    Args:
        tenant: Whose.
        max_sessions: Sessions kept in memory; the least recently heard of is dropped first.
    """

    def __init__(self, tenant: str, max_sessions: int) -> None:
        self._tenant = tenant
        self._max_sessions = max_sessions
        self._agents: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._sessions: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._runs: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._changed: dict[tuple[Table, str], float] = {}
        self._rows: list[Row] = []

    @property
    def agents(self) -> int:
        """How many agents are known."""
        return len(self._agents)

    def agent_of(self, session: str) -> str | None:
        """Return the name of a session's agent; `None` if it is not known."""
        known = self._sessions.get(session)
        return known["agent"] if known is not None else None

    def hear(self, service: str, agent: str | None, at: float, **facts: Any) -> None:
        """Note that spans or a heartbeat of an agent came.

        Args:
            service: `service.name` of its resource.
            agent: Its name; `None`: it goes by its service's.
            at: When, in seconds since the epoch.
            **facts: What is new, by name.
        """
        key = f"{service}/{agent or service}"
        known = self._agents.get(key)
        if known is None:
            known = {
                "service": service,
                "agent": agent or service,
                "first_at": at,
                "last_span_at": None,
                "last_heartbeat_at": None,
                "open_spans": None,
            }
            self._agents[key] = known
            if len(self._agents) > MAX_AGENTS:
                self._agents.popitem(last=False)
        known.update(facts)
        self._agents.move_to_end(key)
        self._changed[Table.AGENTS, key] = at

    def observe(self, observation: Observation, at: float, service: str = "") -> None:
        """Note what a session did.

        Args:
            observation: It.
            at: When it came, in seconds since the epoch.
            service: Whose spans tell of it.
        """
        key = observation.session
        session = self._sessions.get(key)
        if session is None:
            session = {"agent": None, "run": None, "turn": 0, "runs": 0, "corrections": 0}
            session.update(first_at=at, service=service)
            self._sessions[key] = session
            if len(self._sessions) > self._max_sessions:
                self._sessions.popitem(last=False)
        session["turn"] = observation.turn
        if type(observation) is RunStarted:
            session.update(agent=observation.agent, run=observation.run, runs=session["runs"] + 1)
            self._start(observation, at, service)
        elif type(observation) is ModelTurn or type(observation) is RunEnded:
            self._go_on(observation, session["run"], at)
        elif type(observation) is ToolResult:
            run = self._runs.get(f"{key}/{session['run']}")
            if run is not None:
                run_figures.deliver(run, observation)
        self._sessions.move_to_end(key)
        self._changed[Table.SESSIONS, key] = at

    def correct(self, id: str, correction: Correction, at: float, **facts: Any) -> None:  # noqa: A002 - what it is
        """Write down a correction; once more, when its state changed.

        Args:
            id: What it is known by outside.
            correction: It.
            at: When it changed.
            **facts: Its `state` and where it stands.
        """
        first = correction.finding
        fields = {
            "session": correction.session,
            "run": correction.run,
            "agent": correction.agent,
            "service": (self._sessions.get(correction.session) or {}).get("service"),
            "turn": correction.turn,
            "n": correction.n,
            "tier": correction.tier.label,
            "mode": correction.mode.label,
            "detector": first.detector,
            "reason": first.reason,
            "message": correction.message,
            "max_turns": correction.max_turns,
            "category": correction.category,
            "findings": [_plain(finding) for finding in correction.findings],
            **facts,
        }
        self._add(Table.CORRECTIONS, id, at, fields)
        session = self._sessions.get(correction.session)
        if session is not None and facts.get("state") in {"waiting", "observed"}:
            session["corrections"] += 1
            self._changed[Table.SESSIONS, correction.session] = at
            run = self._runs.get(f"{correction.session}/{correction.run}")
            if run is not None:
                run_figures.correct(run, correction.turn)

    def find(self, finding: Finding, observation: Observation, at: float) -> None:
        """Write down a finding."""
        session = self._sessions.get(observation.session) or {}
        key = f"{observation.session}/{session.get('run')}/{observation.turn}/{finding.detector}"
        fields = {
            "session": observation.session,
            "run": session.get("run"),
            "agent": session.get("agent"),
            "turn": observation.turn,
            **_plain(finding),
        }
        self._add(Table.FINDINGS, key, at, fields)

    def forget(self, sessions: Collection[str]) -> None:
        """Keep nothing more of these sessions in memory; what changed is still to be written."""
        self._rows = self.take()
        for key in sessions:
            self._sessions.pop(key, None)
        for key in [key for key, run in self._runs.items() if run["session"] in sessions]:
            del self._runs[key]

    def absorb(self, other: "Ledger") -> None:
        """Gather what another did, of other sessions and agents, too."""
        self._rows += other.take()
        mine = vars(self)
        for name, kept in vars(other).items():
            if isinstance(kept, OrderedDict):
                mine[name].update(kept)

    def keep(self, is_own: Callable[[str], bool]) -> None:
        """Keep nothing of other sessions than those that `is_own` says, to be written or not."""
        self.forget([key for key in self._sessions if not is_own(key)])
        self._rows = [row for row in self._rows if is_own(str(row.fields.get("session")))]

    def add(self, rows: Iterable[Row]) -> None:
        """Have rows written with the others."""
        self._rows += rows

    def take(self) -> list[Row]:
        """Return the rows that changed since this was asked last."""
        rows = self._rows
        self._rows = []
        kept: Mapping[Table, Mapping[str, dict[str, Any]]] = {
            Table.AGENTS: self._agents,
            Table.SESSIONS: self._sessions,
            Table.RUNS: self._runs,
        }
        for (table, key), at in self._changed.items():
            fields = kept[table].get(key)
            if fields is not None:
                rows.append(
                    Row(table=table, tenant=self._tenant, id=key, at=at, fields=dict(fields))
                )
        self._changed.clear()
        return rows

    def _start(self, started: RunStarted, at: float, service: str) -> None:
        key = f"{started.session}/{started.run}"
        self._runs[key] = {
            "session": started.session,
            "run": started.run,
            "agent": started.agent,
            "service": service,
            "started_at": started.time or at,
            "ended_at": None,
            "turns": 0,
            "error": None,
            **run_figures.NOTHING_YET,
            "input_tokens": None,
            "output_tokens": None,
            "model": None,
        }
        if len(self._runs) > self._max_sessions:
            self._runs.popitem(last=False)
        self._changed[Table.RUNS, key] = at

    def _go_on(self, observation: ModelTurn | RunEnded, run: str | None, at: float) -> None:
        ended = type(observation) is RunEnded
        key = (
            f"{observation.session}/{observation.run if isinstance(observation, RunEnded) else run}"
        )
        known = self._runs.get(key)
        if known is None:
            return
        known["turns"] = max(known["turns"], observation.turn)
        if isinstance(observation, ModelTurn):
            run_figures.spend(known, observation)
            _count_tokens(known, observation)
        if ended:
            known["ended_at"] = observation.time or at
            known["error"] = observation.error
        self._changed[Table.RUNS, key] = at

    def _add(self, table: Table, id: str, at: float, fields: Mapping[str, Any]) -> None:  # noqa: A002 - what it is
        self._rows.append(Row(table=table, tenant=self._tenant, id=id, at=at, fields=fields))


def _count_tokens(run: dict[str, Any], turn: ModelTurn) -> None:
    """Add a turn's tokens to its run's; what no turn says stays unknown."""
    for name in ("input_tokens", "output_tokens"):
        tokens = getattr(turn, name)
        if tokens is not None:
            run[name] = (run.get(name) or 0) + tokens
    run["model"] = turn.model or run.get("model")


def service_of(attributes: Mapping[str, Any]) -> str:
    """Return the name of the service that a resource stands for.

    >>> service_of({"service.name": "shop"}), service_of({})
    ('shop', 'unknown_service')
    """
    return str(attributes.get("service.name") or "unknown_service")


def number(value: object, kind: type[_Number]) -> _Number | None:
    """Return a number that was sent, from 0 to a billion; `None` for anything else.

    >>> number(2, int), number("2", int), number(10**30, int), number(float("nan"), float)
    (2, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return kind(value) if 0 <= value <= MAX_NUMBER else None


def names_of(
    correction: Correction, trace_id: int, attributes: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return what the agent of a correction may ask by.

    Args:
        correction: It.
        trace_id: Of the span that was judged.
        attributes: Of that span.
    """
    key = correction.session
    names = [key, f"{trace_id:032x}"]
    if correction.agent and key.endswith(f"/{correction.agent}"):
        names.append(key.removesuffix(f"/{correction.agent}"))
    for name in (
        semconv.GEN_AI_CONVERSATION_ID,
        semconv.SESSION_ID,
        semconv.LANGFUSE_SESSION_ID,
    ):
        value = attributes.get(name)
        if isinstance(value, str) and value:
            names.append(value)
    return tuple(dict.fromkeys(names))


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "detector": finding.detector,
        "kind": finding.kind.value,
        "severity": finding.severity.value,
        "reason": finding.reason,
        "guidance": finding.guidance,
        "evidence": dict(finding.evidence),
    }
