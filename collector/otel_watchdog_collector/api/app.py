"""The API as a FastAPI application."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from otel_watchdog.errors import WatchdogError
from otel_watchdog.model import Mode
from otel_watchdog.version import VERSION
from otel_watchdog_collector.access import ADMIN, OPERATE, READ, Access, Client
from otel_watchdog_collector.api.models import (
    Agent,
    Agents,
    Health,
    Item,
    ModeBody,
    ModeChange,
    ModeWord,
    Page,
    Problem,
    SettingLine,
)
from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.stores.base import Query as RowQuery

_BEFORE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)~(.{1,1024})", re.DOTALL)

_SECURITY: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Headers of every answer; there is no CORS header: pages of other sites get nothing."""

_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problem, "description": "The body is not JSON."},
    401: {"model": Problem, "description": "No token, or an unknown one."},
    403: {"model": Problem, "description": "A token that may not do this."},
    422: {"model": Problem, "description": "A parameter is wrong."},
    503: {"model": Problem, "description": "The store cannot be asked now."},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """What the API asks."""

    store: Store
    access: Access
    meters: Meters
    clock: WallClock
    heartbeat_seconds: float
    mode: Callable[[str], Mode]
    """Returns a tenant's mode."""
    is_paused: Callable[[], bool]
    set_mode: Callable[[str, Mode], Awaitable[None]]
    is_ready: Callable[[], bool]
    setting_lines: Callable[[], list[str]]


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
    return api


def _needs(deps: Deps, action: str) -> Callable[..., Client]:
    def client(
        authorization: Annotated[str | None, Header(include_in_schema=False)] = None,
    ) -> Client:
        found = deps.access.client(authorization)
        if found is None or not found.may(action):
            deps.meters.add("denied_requests_total")
            status = 401 if found is None else 403
            raise HTTPException(status, f"a token that may {action} is needed")
        return found

    return client


def _add_errors(api: FastAPI) -> None:
    @api.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        headers = {**_SECURITY, **(error.headers or {})}
        if error.status_code == 405:  # noqa: PLR2004 - HTTP says so
            headers["allow"] = ", ".join(_methods(api, request.url.path))
        if error.status_code == 401:  # noqa: PLR2004 - HTTP says so
            headers["www-authenticate"] = "Bearer"
        return JSONResponse({"error": str(error.detail)}, error.status_code, headers)

    @api.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return JSONResponse({"error": f"{place}: {first['msg']}"}, 422, _SECURITY)

    @api.exception_handler(WatchdogError)
    async def busy(_: Request, error: WatchdogError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 503, {**_SECURITY, "retry-after": "1"})

    @api.middleware("http")
    async def secure(request: Request, call_next: Callable[[Request], Awaitable[Any]]) -> Any:
        answer = await call_next(request)
        for name, value in _SECURITY.items():
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

    @api.get("/metrics", response_class=PlainTextResponse, tags=["health"], responses=_PROBLEMS)
    async def metrics(_: Annotated[Client, Depends(_needs(deps, READ))]) -> PlainTextResponse:
        """Return the service's metrics for Prometheus."""
        return PlainTextResponse(deps.meters.render(), media_type="text/plain; version=0.0.4")


def _add_lists(api: FastAPI, deps: Deps) -> None:
    reader = Depends(_needs(deps, READ))
    limit_of = Query(ge=1, le=1000, description="Rows, at most.")
    before_of = Query(pattern=_BEFORE.pattern, max_length=1100, description="`next` of a page.")

    @api.get("/api/v1/agents", responses=_PROBLEMS)
    def agents(
        client: Annotated[Client, reader],
        limit: Annotated[int, limit_of] = 100,
        before: Annotated[str | None, before_of] = None,
    ) -> Agents:
        """List the agents that were heard of."""
        rows = _rows(deps, client, Table.AGENTS, {}, (limit, before))
        return Agents(items=[_agent(deps, row) for row in rows], next=_next(rows, limit))

    def add(table: Table, names: tuple[str, ...]) -> None:
        def listed(
            client: Annotated[Client, reader],
            limit: Annotated[int, limit_of] = 100,
            before: Annotated[str | None, before_of] = None,
            session: Annotated[str | None, Query(max_length=1024)] = None,
            agent: Annotated[str | None, Query(max_length=1024)] = None,
        ) -> Page:
            given = {"session": session, "agent": agent}
            where = {n: v for n, v in given.items() if v is not None and n in names}
            rows = _rows(deps, client, table, where, (limit, before))
            items = [Item(id=row.id, at=row.at, fields=dict(row.fields)) for row in rows]
            return Page(items=items, next=_next(rows, limit))

        api.add_api_route(
            f"/api/v1/{table.value}",
            listed,
            response_model=Page,
            responses=_PROBLEMS,
            name=table.value,
            summary=f"List {table.value}, of one session or agent where that is given.",
        )

    add(Table.SESSIONS, ("agent",))
    add(Table.RUNS, ("session", "agent"))
    add(Table.CORRECTIONS, ("session", "agent"))
    add(Table.FINDINGS, ("session", "agent"))


def _add_mode(api: FastAPI, deps: Deps) -> None:
    @api.get("/api/v1/mode", responses=_PROBLEMS)
    async def mode(client: Annotated[Client, Depends(_needs(deps, READ))]) -> ModeBody:
        """Say what may be done to the tenant's agents."""
        return ModeBody(mode=ModeWord(deps.mode(client.tenant).label), paused=deps.is_paused())

    @api.put("/api/v1/mode", responses=_PROBLEMS)
    async def set_mode(
        change: ModeChange, client: Annotated[Client, Depends(_needs(deps, OPERATE))]
    ) -> ModeBody:
        """Change what may be done to the tenant's agents, from now on and after a restart."""
        await deps.set_mode(client.tenant, Mode[change.mode.name])
        return ModeBody(mode=change.mode, paused=deps.is_paused())

    @api.get("/api/v1/config", responses=_PROBLEMS)
    async def config(_: Annotated[Client, Depends(_needs(deps, ADMIN))]) -> SettingLine:
        """Return the settings in effect, with where each came from; secrets are hidden."""
        return SettingLine(lines=deps.setting_lines())


def _rows(
    deps: Deps,
    client: Client,
    table: Table,
    where: Mapping[str, str],
    page: tuple[int, str | None],
) -> list[Row]:
    limit, before = page
    after = None
    if before is not None:
        found = _BEFORE.fullmatch(before)
        if found is not None:
            after = (float(found[1]), found[2])
    return deps.store.rows(RowQuery(table, client.tenant, where, after, limit))


def _next(rows: list[Row], limit: int) -> str | None:
    return f"{rows[-1].at!r}~{rows[-1].id}" if len(rows) == limit else None


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
