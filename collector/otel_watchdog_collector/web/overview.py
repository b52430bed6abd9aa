"""The fleet at a glance: each agent with its conditions and where its ladders stand."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.health import ConditionType, Status, agent_id
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.web.live import Live
from otel_watchdog_collector.web.rows import rows

PAGE_AGENTS: Final = 50
"""Agents on one page of the table."""

RECENT_SECONDS: Final = 86_400.0
"""How far back corrections are shown in the table."""

MAX_CORRECTIONS: Final = 5000

STATES: Final = (
    "crash-loop",
    "auth-required",
    "no-session",
    "no-output",
    "stuck-overlay",
    "shell-prompt",
    "unknown",
    "ready",
)
"""What an agent may be in, the worst first."""

_NO_LADDER: Final[Mapping[str, Any]] = {
    "failures": 0,
    "backoff_until": None,
    "crash_looping": False,
}


class Told(NamedTuple):
    """What the watchdog last said to an agent, or would have said."""

    id: str
    at: float
    fields: Mapping[str, Any]
    times: int
    """Corrections in the time that is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLine:
    """One agent in the table."""

    id: str
    service: str
    agent: str
    state: str
    message: str
    conditions: Mapping[str, Mapping[str, Any]]
    ladder: Mapping[str, Any]
    shadow: Mapping[str, Any]
    paused: Mapping[str, Any] | None
    told: Told | None
    last_seen_at: float | str | None

    @property
    def rank(self) -> tuple[int, bool, str]:
        """Its place: the worst first, then those that were corrected, then by name."""
        return (STATES.index(self.state), self.told is None, self.id)


class Wanted(NamedTuple):
    """Which part of the fleet somebody asked for."""

    state: str = ""
    text: str = ""
    sort: str = "worst"
    page: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A page of the table."""

    lines: Sequence[AgentLine]
    total: int
    """Agents of the fleet."""
    found: int
    """Those that were asked for."""
    pages: int
    by_state: Mapping[str, int]
    """Agents of the fleet by state; states without any are left out."""
    latest: Told | None
    """The latest correction of the fleet."""


class Overview:
    """Reads the fleet, anew only when something changed.

    Args:
        store: Where rows are.
        live: Knows whether they changed.
        clock: Time of day.
    """

    def __init__(self, store: Store, live: Live, clock: WallClock) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._known: dict[str, tuple[int, Sequence[AgentLine]]] = {}

    def show(self, tenant: str, wanted: Wanted) -> Shown:
        """Return a page of a tenant's fleet."""
        lines = self.lines(tenant)
        text = wanted.text.casefold()
        found = [
            line
            for line in lines
            if (not wanted.state or line.state == wanted.state)
            and (not text or text in line.id.casefold())
        ]
        if wanted.sort == "name":
            found.sort(key=lambda line: line.id)
        elif wanted.sort == "corrected":
            found.sort(key=lambda line: -(line.told.times if line.told else 0))
        pages = max(1, -(-len(found) // PAGE_AGENTS))
        first = (min(wanted.page, pages) - 1) * PAGE_AGENTS
        told = [line.told for line in lines if line.told is not None]
        states = Counter(line.state for line in lines)
        return Shown(
            lines=found[first : first + PAGE_AGENTS],
            total=len(lines),
            found=len(found),
            pages=pages,
            by_state={state: states[state] for state in STATES if states[state]},
            latest=max(told, key=lambda one: one.at, default=None),
        )

    def lines(self, tenant: str) -> Sequence[AgentLine]:
        """Return all agents, the worst first."""
        version = self._live.version(tenant)
        known = self._known.get(tenant)
        if known is not None and known[0] == version:
            return known[1]
        lines = sorted(self._read(tenant), key=lambda line: line.rank)
        self._known[tenant] = (version, lines)
        return lines

    def line(self, tenant: str, id_: str) -> AgentLine | None:
        """Return one agent; `None` if it is not known."""
        return next((line for line in self.lines(tenant) if line.id == id_), None)

    def _read(self, tenant: str) -> list[AgentLine]:
        judged = {row.id: row.fields for row in rows(self._store, Table.CONDITIONS, tenant)}
        heard = {row.id: row for row in rows(self._store, Table.AGENTS, tenant)}
        told = self._told(tenant)
        ids = judged.keys() | heard.keys()
        named = {id_.partition("/")[0] for id_ in ids if not _is_service(id_)}
        return [
            _line(id_, judged.get(id_), heard.get(id_), told.get(id_))
            for id_ in ids
            if not (_is_service(id_) and id_.partition("/")[0] in named)
        ]

    def _told(self, tenant: str) -> dict[str, Told]:
        found: dict[str, Told] = {}
        since = self._clock() - RECENT_SECONDS
        for row in rows(self._store, Table.CORRECTIONS, tenant, since=since, most=MAX_CORRECTIONS):
            id_ = agent_id(str(row.fields.get("service") or ""), row.fields["agent"])
            known = found.get(id_)
            count = known.times + 1 if known is not None else 1
            latest = known or Told(row.id, row.at, row.fields, 1)
            found[id_] = latest._replace(times=count)
        return found


def _is_service(id_: str) -> bool:
    """Say whether an id is that of a service whose agent has no name."""
    service, _, agent = id_.partition("/")
    return service == agent


def _line(
    id_: str, judged: Mapping[str, Any] | None, heard: Row | None, told: Told | None
) -> AgentLine:
    seen = None
    if heard is not None:
        times = (heard.fields.get("last_span_at"), heard.fields.get("last_heartbeat_at"))
        seen = max((at for at in times if at is not None), default=None)
    service, _, agent = id_.partition("/")
    if judged is None:
        judged = {"state": "unknown", "message": "not judged yet", "conditions": []}
    known = {one["type"]: one for one in judged["conditions"]}
    return AgentLine(
        id=id_,
        service=service,
        agent=agent,
        state=judged["state"] if judged["state"] in STATES else "unknown",
        message=judged["message"],
        conditions={
            kind.value: known.get(kind.value)
            or {"type": kind.value, "status": Status.UNKNOWN.value, "reason": "", "message": ""}
            for kind in ConditionType
        },
        ladder=judged.get("ladder") or _NO_LADDER,
        shadow=judged.get("shadow") or _NO_LADDER,
        paused=judged.get("paused"),
        told=told,
        last_seen_at=seen if seen is not None else judged.get("last_seen_at"),
    )
