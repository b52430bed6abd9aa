"""The API as a FastAPI application."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from otel_watchdog.errors import WatchdogError
from otel_watchdog.model import Mode
from otel_watchdog.version import VERSION
from otel_watchdog_collector.access import ADMIN, OPERATE, READ, SECURITY, Client
from otel_watchdog_collector.api.deps import PROBLEMS, Deps, needs
from otel_watchdog_collector.api.fleet import add_fleet
from otel_watchdog_collector.api.models import (
    Agent,
    Agents,
    Health,
    Item,
    ModeBody,
    ModeChange,
    ModeWord,
    Page,
    SettingLine,
)
from otel_watchdog_collector.api.paging import Before, Limit, Name, next_of, rows_of
from otel_watchdog_collector.facts import Row, Table


def make_api(deps: Deps) -> FastAPI:
    """Return the application."""
    api = FastAPI(
        title="otel-watchdog-collector",
        version=VERSION,
        description="What the agents do, and what the watchdog made of it.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
    )
    _add_errors(api)
    _add_health(api, deps)
    _add_lists(api, deps)
    _add_mode(api, deps)
    add_fleet(api, deps)
    return api


def _add_errors(api: FastAPI) -> None:
    @api.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        headers = {**SECURITY, **(error.headers or {})}
        if error.status_code == 405:  # noqa: PLR2004 - HTTP says so
            headers["allow"] = ", ".join(_methods(api, request.url.path))
        if error.status_code == 401:  # noqa: PLR2004 - HTTP says so
            headers["www-authenticate"] = "Bearer"
        return JSONResponse({"error": str(error.detail)}, error.status_code, headers)

    @api.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return JSONResponse({"error": f"{place}: {first['msg']}"}, 422, SECURITY)

    @api.exception_handler(WatchdogError)
    async def busy(_: Request, error: WatchdogError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 503, {**SECURITY, "retry-after": "1"})

    @api.middleware("http")
    async def secure(request: Request, call_next: Callable[[Request], Awaitable[Any]]) -> Any:
        answer = await call_next(request)
        for name, value in SECURITY.items():
            answer.headers.setdefault(name, value)
        return answer


def _methods(api: FastAPI, path: str) -> list[str]:
    """Return the methods that a path allows, of all its routes."""
    routes = [route for route in api.routes if getattr(route, "path", None) == path]
    return sorted({method for route in routes for method in getattr(route, "methods", ())})


def _add_health(api: FastAPI, deps: Deps) -> None:
    @api.get("/healthz", tags=["health"])
    async def live() -> Health:
        """Say that the process answers."""
        return Health(status="live")

    @api.get(
        "/readyz",
        response_model=Health,
        tags=["health"],
        responses={503: {"model": Health, "description": "It takes nothing in now."}},
    )
    async def ready() -> Any:
        """Say whether spans are taken in."""
        if deps.is_ready():
            return Health(status="ready")
        return JSONResponse({"status": "the store fails"}, 503)

    @api.get("/metrics", response_class=PlainTextResponse, tags=["health"], responses=PROBLEMS)
    async def metrics(_: Annotated[Client, Depends(needs(deps, READ))]) -> PlainTextResponse:
        """Return the service's metrics for Prometheus."""
        return PlainTextResponse(deps.meters.render(), media_type="text/plain; version=0.0.4")


def _add_lists(api: FastAPI, deps: Deps) -> None:
    reader = Depends(needs(deps, READ))

    @api.get("/api/v1/agents", responses=PROBLEMS)
    def agents(
        client: Annotated[Client, reader],
        limit: Limit = 100,
        before: Before = None,
    ) -> Agents:
        """List the agents that were heard of."""
        rows = rows_of(deps, client, Table.AGENTS, {}, (limit, before))
        return Agents(items=[_agent(deps, row) for row in rows], next=next_of(rows, limit))

    def add(table: Table, names: tuple[str, ...]) -> None:
        def listed(
            client: Annotated[Client, reader],
            limit: Limit = 100,
            before: Before = None,
            session: Name = None,
            agent: Name = None,
        ) -> Page:
            given = {"session": session, "agent": agent}
            where = {n: v for n, v in given.items() if v is not None and n in names}
            rows = rows_of(deps, client, table, where, (limit, before))
            items = [Item(id=row.id, at=row.at, fields=dict(row.fields)) for row in rows]
            return Page(items=items, next=next_of(rows, limit))

        api.add_api_route(
            f"/api/v1/{table.value}",
            listed,
            response_model=Page,
            responses=PROBLEMS,
            name=table.value,
            summary=f"List {table.value}, of one session or agent where that is given.",
        )

    add(Table.SESSIONS, ("agent",))
    add(Table.RUNS, ("session", "agent"))
    add(Table.CORRECTIONS, ("session", "agent"))
    add(Table.FINDINGS, ("session", "agent"))


def _add_mode(api: FastAPI, deps: Deps) -> None:
    @api.get("/api/v1/mode", responses=PROBLEMS)
    async def mode(client: Annotated[Client, Depends(needs(deps, READ))]) -> ModeBody:
        """Say what may be done to the tenant's agents."""
        return ModeBody(
            mode=ModeWord(deps.mode(client.tenant).label), paused=deps.is_paused(client.tenant)
        )

    @api.put("/api/v1/mode", responses=PROBLEMS)
    async def set_mode(
        change: ModeChange, client: Annotated[Client, Depends(needs(deps, OPERATE))]
    ) -> ModeBody:
        """Change what may be done to the tenant's agents, from now on and after a restart."""
        mode = Mode[change.mode.name]
        await deps.set_mode(client.tenant, mode)
        await deps.fleet.note_mode(client.tenant, mode, client.name)
        return ModeBody(mode=change.mode, paused=deps.is_paused(client.tenant))

    @api.get("/api/v1/config", responses=PROBLEMS)
    async def config(_: Annotated[Client, Depends(needs(deps, ADMIN))]) -> SettingLine:
        """Return the settings in effect, with where each came from; secrets are hidden."""
        return SettingLine(lines=deps.setting_lines())


def _agent(deps: Deps, row: Row) -> Agent:
    fields = row.fields
    beat = fields.get("last_heartbeat_at")
    if beat is None:
        liveness = "unknown"
    else:
        liveness = "alive" if deps.clock() - beat <= deps.heartbeat_seconds else "silent"
    return Agent(
        id=row.id,
        service=fields["service"],
        agent=fields["agent"],
        liveness=liveness,
        last_span_at=fields.get("last_span_at"),
        last_heartbeat_at=beat,
        open_spans=fields.get("open_spans"),
    )
