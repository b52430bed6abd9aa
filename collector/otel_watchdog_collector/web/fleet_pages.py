"""The fleet's table, one agent, and one run."""

from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.web.door import Refused, Visit
from otel_watchdog_collector.web.overview import STATES, Overview, Wanted
from otel_watchdog_collector.web.parts import PREFIX, Parts
from otel_watchdog_collector.web.rows import rows
from otel_watchdog_collector.web.shell import Shell
from otel_watchdog_collector.web.timeline import timeline
from otel_watchdog_collector.web.views import HEADERS, link

MAX_ROWS: Final = 25
"""Runs and corrections that an agent's page shows, the latest."""

_SORTS: Final = ("worst", "name", "corrected")


class FleetPages:
    """Shows agents.

    Args:
        parts: What there is to ask.
        shell: Renders.
    """

    def __init__(self, parts: Parts, shell: Shell) -> None:
        self._parts = parts
        self._shell = shell
        self._overview = Overview(parts.store, parts.live, parts.clock)

    def fleet(self, visit: Visit) -> Response:
        """Show the table with all around it."""
        return self._shell.page(visit, "fleet.html", self._table(visit))

    def table(self, visit: Visit) -> Response:
        """Show the table alone, for a page that is open."""
        return self._shell.part(visit, "_fleet_table.html", self._table(visit))

    def agent(self, visit: Visit) -> Response:
        """Show one agent with all around it."""
        return self._shell.page(visit, "agent.html", self._agent(visit))

    def agent_part(self, visit: Visit) -> Response:
        """Show what changes of one agent."""
        return self._shell.part(visit, "_agent.html", self._agent(visit))

    def run(self, visit: Visit) -> Response:
        """Show one run with all around it."""
        return self._shell.page(visit, "run.html", self._run(visit))

    def run_part(self, visit: Visit) -> Response:
        """Show what changes of one run."""
        return self._shell.part(visit, "_timeline.html", self._run(visit))

    def correction(self, visit: Visit) -> Response:
        """Lead to the place of a correction in its run."""
        id_ = visit.asked("id", 100)
        row = self._parts.store.row(Table.CORRECTIONS, visit.tenant, id_)
        if row is None:
            raise Refused(404, "no such correction")
        turn = row.fields["turn"]
        address = link(
            f"{PREFIX}/run", session=row.fields["session"], run=row.fields["run"], until=turn + 10
        )
        return RedirectResponse(f"{address}#turn-{turn}", 303, HEADERS)

    def _table(self, visit: Visit) -> dict[str, Any]:
        sort = visit.asked("sort", 16)
        wanted = Wanted(
            state=state if (state := visit.asked("state", 32)) in STATES else "",
            text=visit.asked("q", 200).strip(),
            sort=sort if sort in _SORTS else "worst",
            page=visit.number("page") or 1,
        )
        shown = self._overview.show(visit.tenant, wanted)
        news = shown.latest.id if shown.latest else ""
        return {
            "shown": shown,
            "wanted": wanted,
            "states": STATES,
            "sorts": _SORTS,
            "news": news,
            "is_news": visit.asked("seen", 8) == "1" and visit.asked("news", 100) != news,
            "acting": self._parts.fleet.acting(visit.tenant),
        }

    def _agent(self, visit: Visit) -> dict[str, Any]:
        id_ = visit.asked("id")
        line = self._overview.line(visit.tenant, id_)
        if line is None:
            raise Refused(404, "no such agent")
        state = self._parts.store.row(Table.CONDITIONS, visit.tenant, id_)
        open_ = rows(self._parts.store, Table.INCIDENTS, visit.tenant, where={"state": "open"})
        return {
            "line": line,
            "fields": state.fields if state is not None else {},
            "runs": self._own(visit, Table.RUNS, line.service, line.agent),
            "corrections": self._own(visit, Table.CORRECTIONS, line.service, line.agent),
            "incidents": [row.fields for row in open_ if id_ in row.fields["agents"]],
        }

    def _own(self, visit: Visit, table: Table, service: str, agent: str) -> list[Row]:
        """Return an agent's rows, the latest first."""
        names = {agent, ""} if agent == service else {agent}
        found = [
            row
            for name in names
            for row in rows(
                self._parts.store, table, visit.tenant, where={"agent": name}, most=1000
            )
            if row.fields.get("service") in {None, service}
        ]
        return sorted(found, key=lambda row: -row.at)[:MAX_ROWS]

    def _run(self, visit: Visit) -> dict[str, Any]:
        session, run = visit.asked("session"), visit.asked("run")
        until = visit.number("until")
        shown = timeline(self._parts.store, visit.tenant, session, run, until)
        row = self._parts.store.row(Table.RUNS, visit.tenant, f"{session}/{run}")
        if row is None and not shown.turns:
            raise Refused(404, "no such run")
        return {
            "session": session,
            "run": run,
            "until": until,
            "shown": shown,
            "fields": row.fields if row is not None else {},
            "is_kept": self._parts.history_chars > 0,
        }
