"""The fleet at a glance: each agent with its conditions and where its ladders stand."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
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

REREAD_SECONDS: Final = 300.0
"""Seconds after which a fleet is read anew: what is gone is not written."""

MAX_QUEUE: Final = 20_000
"""Rows that wait for somebody to look; above, the fleet is read anew by who does."""

SHOWN: Final = frozenset({Table.AGENTS, Table.CONDITIONS, Table.CORRECTIONS})
"""What is looked at."""

_MOST: Final = 20_000

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
    """Keeps what there is to see of fleets that somebody looks at.

    A fleet is read once, and again after a while; between, rows are taken note of as they are
    written.

    Args:
        store: Where rows are.
        live: Tells of rows that were written.
        clock: Time of day.
    """

    def __init__(self, store: Store, live: Live, clock: WallClock) -> None:
        self._store = store
        self._clock = clock
        self._lock = Lock()
        self._boards: dict[str, Board] = {}
        live.tell(self._note)

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
        """Return all agents, the worst first.

        Raises:
            StoreError: The store cannot be read now.
        """
        now = self._clock()
        with self._lock:
            board = self._boards.get(tenant)
            if board is None or now - board.read_at > REREAD_SECONDS:
                board = self._boards[tenant] = Board(now)
                for table in (Table.CONDITIONS, Table.AGENTS):
                    for row in rows(self._store, table, tenant):
                        board.take(row)
                since = now - RECENT_SECONDS
                for row in rows(self._store, Table.CORRECTIONS, tenant, since=since, most=_MOST):
                    board.take(row)
            board.catch_up()
            return board.lines(now)

    def line(self, tenant: str, id_: str) -> AgentLine | None:
        """Return one agent; `None` if it is not known."""
        return next((line for line in self.lines(tenant) if line.id == id_), None)

    def _note(self, written: Sequence[Row]) -> None:
        """Keep rows until somebody looks: called in the event loop's thread, waits for nobody."""
        for row in written:
            board = self._boards.get(row.tenant)
            if board is not None and row.table in SHOWN:
                board.queue.append(row)
                if len(board.queue) > MAX_QUEUE:
                    self._boards.pop(row.tenant, None)


class Board:
    """The rows of one tenant's fleet.

    Args:
        read_at: When they were read.
    """

    def __init__(self, read_at: float) -> None:
        self.read_at = read_at
        self.queue: deque[Row] = deque()
        """Rows that were written since."""
        self._judged: dict[str, Mapping[str, Any]] = {}
        self._heard: dict[str, Mapping[str, Any]] = {}
        self._told: dict[str, dict[str, Row]] = defaultdict(dict)
        self._lines: dict[str, AgentLine] = {}
        self._changed: set[str] = set()

    def catch_up(self) -> None:
        """Take in what was written since."""
        while self.queue:
            self.take(self.queue.popleft())

    def take(self, row: Row) -> None:
        """Take in a row."""
        if row.table is Table.CORRECTIONS:
            id_ = agent_id(str(row.fields.get("service") or ""), row.fields["agent"])
            self._told[id_][row.id] = row
        elif row.table is Table.CONDITIONS:
            id_ = row.id
            self._judged[id_] = {key: row.fields[key] for key in row.fields if key != "kept"}
        else:
            id_ = row.id
            self._heard[id_] = row.fields
        self._changed.add(id_)

    def lines(self, now: float) -> list[AgentLine]:
        """Return all agents, the worst first."""
        for id_ in self._changed & (self._judged.keys() | self._heard.keys()):
            told = self._told_of(id_, now - RECENT_SECONDS)
            self._lines[id_] = _line(id_, self._judged.get(id_), self._heard.get(id_), told)
        self._changed.clear()
        named = {line.service for line in self._lines.values() if line.agent != line.service}
        shown = [
            line
            for line in self._lines.values()
            if line.agent != line.service or line.service not in named
        ]
        return sorted(shown, key=lambda line: line.rank)

    def _told_of(self, id_: str, since: float) -> Told | None:
        own = self._told.get(id_)
        if own is None:
            return None
        for key in [key for key, row in own.items() if row.at < since]:
            del own[key]
        latest = max(own.values(), key=lambda row: row.at, default=None)
        return Told(latest.id, latest.at, latest.fields, len(own)) if latest is not None else None


def _line(
    id_: str,
    judged: Mapping[str, Any] | None,
    heard: Mapping[str, Any] | None,
    told: Told | None,
) -> AgentLine:
    seen = None
    if heard is not None:
        times = (heard.get("last_span_at"), heard.get("last_heartbeat_at"))
        seen = max((at for at in times if at is not None), default=None)
    own = judged or heard or {}
    service, agent = own["service"], own["agent"]
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
