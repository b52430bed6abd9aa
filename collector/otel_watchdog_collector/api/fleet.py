"""Routes about the fleet's health: conditions, incidents, audit, healing and who may change it."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

import orjson
from fastapi import Depends, FastAPI, Query, Response
from starlette.exceptions import HTTPException

from otel_watchdog_collector.access import OPERATE, READ, Client
from otel_watchdog_collector.api.deps import PROBLEMS, Deps, needs
from otel_watchdog_collector.api.fleet_models import (
    Activity,
    AgentName,
    ApprovalPage,
    AuditPage,
    Done,
    HealingBody,
    HealingChange,
    HealthPage,
    IncidentPage,
    KillSwitch,
    ReportBody,
)
from otel_watchdog_collector.api.models import Problem
from otel_watchdog_collector.api.paging import Before, Limit, Name, next_of, rows_of
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.health import Report

MAX_DAYS: Final = 90
"""Days of activity that are shown, at most: as long as the audit is kept."""

_DAYS: Final = re.compile(r"^[0-9]*[1-9][0-9]*$")

_HIDDEN: Final = frozenset({"kept", "tenant"})
"""Fields of rows that are the service's own."""

_NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problem, "description": "No such agent."}
}


def add_fleet(api: FastAPI, deps: Deps) -> None:
    """Add the routes."""
    _add_lists(api, deps)
    _add_activity(api, deps)
    _add_healing(api, deps)
    _add_agents(api, deps)


def _add_lists(api: FastAPI, deps: Deps) -> None:
    reader = Depends(needs(deps, READ))
    operator = Depends(needs(deps, OPERATE))

    @api.get("/api/v1/conditions", response_model=HealthPage, responses=PROBLEMS, tags=["fleet"])
    def conditions(
        client: Annotated[Client, reader],
        limit: Limit = 100,
        before: Before = None,
        agent: Name = None,
        service: Name = None,
        state: Name = None,
    ) -> Response:
        """List the agents' conditions; of one agent, by its id, where that is given."""
        if agent is not None:
            row = deps.store.row(Table.CONDITIONS, client.tenant, agent)
            return _as_json({"items": [_item(row)] if row else [], "next": None})
        where = {"service": service, "state": state}
        return _as_json(_page(deps, client, Table.CONDITIONS, where, (limit, before)))

    @api.get("/api/v1/incidents", response_model=IncidentPage, responses=PROBLEMS, tags=["fleet"])
    def incidents(
        client: Annotated[Client, reader],
        limit: Limit = 100,
        before: Before = None,
        state: Annotated[str | None, Query(pattern="^(open|closed)$")] = None,
        kind: Name = None,
    ) -> Response:
        """List what people should know of."""
        where = {"state": state, "kind": kind}
        return _as_json(_page(deps, client, Table.INCIDENTS, where, (limit, before)))

    @api.get("/api/v1/approvals", response_model=ApprovalPage, responses=PROBLEMS, tags=["fleet"])
    def approvals(
        client: Annotated[Client, reader],
        limit: Limit = 100,
        before: Before = None,
        state: Annotated[str | None, Query(pattern="^(asked|answered|unanswered)$")] = None,
        agent: Name = None,
    ) -> Response:
        """List what agents asked people for, and who answered."""
        where = {"state": state, "agent": agent}
        return _as_json(_page(deps, client, Table.APPROVALS, where, (limit, before)))

    @api.get("/api/v1/audit", response_model=AuditPage, responses=PROBLEMS, tags=["fleet"])
    def audit(
        client: Annotated[Client, operator],
        limit: Limit = 100,
        before: Before = None,
        agent: Name = None,
        action: Name = None,
    ) -> Response:
        """List what was done, would have been done, changed or was allowed, and by whom."""
        where = {"agent": agent, "action": action}
        return _as_json(_page(deps, client, Table.AUDIT, where, (limit, before)))


def _add_activity(api: FastAPI, deps: Deps) -> None:
    @api.get("/api/watchdog/activity", response_model=Activity, responses=PROBLEMS, tags=["fleet"])
    def activity(
        client: Annotated[Client, Depends(needs(deps, OPERATE))],
        days: Annotated[
            str,
            Query(
                max_length=16,
                description=f"1 to {MAX_DAYS}; more counts as {MAX_DAYS}.",
                json_schema_extra={"pattern": _DAYS.pattern},
            ),
        ] = "30",
    ) -> Response:
        """Say what the watchdog did, or would have done, day by day (UTC)."""
        if not _DAYS.match(days):
            raise HTTPException(400, f"days must be a whole number from 1 to {MAX_DAYS}")
        return _as_json(deps.fleet.activity(client.tenant, min(int(days), MAX_DAYS)))


def _add_healing(api: FastAPI, deps: Deps) -> None:
    reader = Depends(needs(deps, READ))
    operator = Depends(needs(deps, OPERATE))

    def body(tenant: str) -> HealingBody:
        return HealingBody.model_validate(
            {
                "mode": deps.fleet.mode(tenant),
                "acting": deps.fleet.acting(tenant),
                "paused_by": deps.fleet.paused_by(tenant),
            }
        )

    @api.get("/api/v1/healing", responses=PROBLEMS, tags=["fleet"])
    async def healing(client: Annotated[Client, reader]) -> HealingBody:
        """Say what may be done to the tenant's agents' processes."""
        return body(client.tenant)

    @api.put("/api/v1/healing", responses=PROBLEMS, tags=["fleet"])
    async def set_healing(
        change: HealingChange, client: Annotated[Client, operator]
    ) -> HealingBody:
        """Change that, from now on and after a restart."""
        await deps.fleet.set_mode(client.tenant, change.mode, client.name)
        return body(client.tenant)

    @api.put("/api/v1/kill-switch", responses=PROBLEMS, tags=["fleet"])
    async def kill_switch(change: KillSwitch, client: Annotated[Client, operator]) -> HealingBody:
        """Stop all healing and all corrections of the tenant at once, or allow them again.

        It only lowers: turned off, everything is as it was set, and the environment's and the
        file's switch still hold.
        """
        await deps.fleet.set_pause(client.tenant, paused=change.paused, by=client.name)
        return body(client.tenant)


def _add_agents(api: FastAPI, deps: Deps) -> None:
    operator = Depends(needs(deps, OPERATE))
    problems = PROBLEMS | _NOT_FOUND

    @api.post("/api/v1/resume", responses=problems, tags=["fleet"])
    async def resume(which: AgentName, client: Annotated[Client, operator]) -> Done:
        """Let an agent that was paused be healed again; it has one attempt."""
        return _done(await deps.fleet.resume(client.tenant, which.agent, client.name))

    @api.post("/api/v1/pause", responses=problems, tags=["fleet"])
    async def pause(which: AgentName, client: Annotated[Client, operator]) -> Done:
        """Leave an agent alone until it is resumed."""
        return _done(await deps.fleet.pause(client.tenant, which.agent, client.name))

    @api.put("/api/v1/reports", responses=PROBLEMS, tags=["fleet"])
    async def report(body: ReportBody, client: Annotated[Client, operator]) -> Done:
        """Say of an agent what its spans do not tell; it replaces what was said before."""
        said = Report(**body.model_dump(exclude={"agent"}))
        await deps.fleet.report(client.tenant, body.agent, said, client.name)
        return Done(done=True)


def _done(known: bool) -> Done:
    if not known:
        raise HTTPException(404, "no such agent")
    return Done(done=True)


def _page(
    deps: Deps,
    client: Client,
    table: Table,
    where: dict[str, str | None],
    page: tuple[int, str | None],
) -> dict[str, Any]:
    asked = {name: value for name, value in where.items() if value is not None}
    rows = rows_of(deps, client, table, asked, page)
    return {"items": [_item(row) for row in rows], "next": next_of(rows, page[0])}


def _item(row: Row) -> dict[str, Any]:
    return {"id": row.id, **{name: row.fields[name] for name in row.fields if name not in _HIDDEN}}


def _as_json(value: Mapping[str, Any]) -> Response:
    """Return what the route's model describes; checked by tests, as a thousand agents are many."""
    return Response(orjson.dumps(value), media_type="application/json")
