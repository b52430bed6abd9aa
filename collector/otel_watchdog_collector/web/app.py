"""The pages as an ASGI application."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from otel_watchdog.errors import WatchdogError
from otel_watchdog_collector.web.actions import Actions
from otel_watchdog_collector.web.door import Act, Door, Look, Refused, Visit, form_of
from otel_watchdog_collector.web.fleet_pages import FleetPages
from otel_watchdog_collector.web.live import Viewer
from otel_watchdog_collector.web.logins import Logins
from otel_watchdog_collector.web.parts import PREFIX, Parts
from otel_watchdog_collector.web.shell import Shell
from otel_watchdog_collector.web.views import FOLDER, HEADERS, Views
from otel_watchdog_collector.web.work_pages import WorkPages

_STATIC: Final = {
    "htmx.min.js": "text/javascript",
    "htmx-sse.min.js": "text/javascript",
    "style.css": "text/css",
    "icon.svg": "image/svg+xml",
    "NOTICE.txt": "text/plain",
}
"""Files that are handed out, and what they are."""


class _Pages:
    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.door = Door(parts.access, Logins(parts.clock), is_tls=parts.is_tls)
        self.shell = Shell(parts, Views(), is_open=self.door.is_open)

    def look(self, show: Look) -> Callable[[Request], Any]:
        """Return what answers with a page; the store is read in a thread of its own."""

        async def answer(request: Request) -> Response:
            visit = self._visit(request)
            return visit if isinstance(visit, Response) else await run_in_threadpool(show, visit)

        return answer

    def act(self, act: Act, *, changes: bool = True) -> Callable[[Request], Any]:
        """Return what does as a form says.

        Args:
            act: Does it.
            changes: Whether that is for those alone who may change something.
        """

        async def answer(request: Request) -> Response:
            visit = self._visit(request)
            if isinstance(visit, Response):
                return visit
            form = await form_of(request)
            self.door.check_form(visit, form)
            if changes and not visit.may_operate:
                raise Refused(403, "a token that may operate is needed")
            return await act(visit, form)

        return answer

    async def events(self, request: Request) -> Response:
        """Answer with a stream of news."""
        visit = self._visit(request)
        if isinstance(visit, Response):
            raise Refused(401, "sign in first")
        if self.parts.live.is_full:
            raise Refused(503, "too many pages are open")
        return _Stream(self.parts, Viewer(visit.tenant, visit.asked("session") or None))

    async def login(self, request: Request) -> Response:
        """Ask for a token, and take it."""
        if self.door.is_open:
            return RedirectResponse(PREFIX, 303, HEADERS)
        if request.method == "POST":
            form = await form_of(request)
            answer = self.door.sign_in(request, form.get("token", "").strip())
            if answer is not None:
                return answer
            self.parts.meters.add("denied_requests_total")
            return self.shell.plain("login.html", {"is_wrong": True}, 401)
        return self.shell.plain("login.html", {"is_wrong": False}, 200)

    async def logout(self, visit: Visit, _: Any) -> Response:
        """Sign somebody out."""
        return self.door.sign_out(visit.request)

    async def refuse(self, _: Request, error: Exception) -> Response:
        """Say why there is no page."""
        status = error.status if isinstance(error, Refused) else 503
        if status in {401, 403}:
            self.parts.meters.add("denied_requests_total")
        return self.shell.plain("refused.html", {"status": status, "message": str(error)}, status)

    async def fail(self, _: Request, __: Exception) -> Response:
        """Say that it is our fault; what was raised is logged by the server."""
        self.parts.meters.add("internal_errors_total")
        message = "the page could not be made; the service's log says why"
        return self.shell.plain("refused.html", {"status": 500, "message": message}, 500)

    async def missing(self, _: Request, __: Exception) -> Response:
        """Say that there is no such page."""
        return self.shell.plain("refused.html", {"status": 404, "message": "no such page"}, 404)

    def _visit(self, request: Request) -> Visit | Response:
        visit = self.door.visit(request)
        if visit is None:
            return RedirectResponse(f"{PREFIX}/login", 303, HEADERS)
        return visit


class _Stream(Response):
    """Server-sent events, until the page is closed."""

    def __init__(self, parts: Parts, viewer: Viewer) -> None:
        super().__init__(headers=HEADERS, media_type="text/event-stream")
        del self.headers["content-length"]
        self._parts = parts
        self._viewer = viewer

    async def __call__(self, _: Any, receive: Any, send: Any) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": self.raw_headers},
        )
        await self._parts.live.stream(self._viewer, receive, send)


async def _home(_: Request) -> Response:
    return RedirectResponse(PREFIX, 307, HEADERS)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise Refused(404, "no such file")
    headers = {**HEADERS, "cache-control": "public, max-age=3600"}
    return FileResponse(Path(FOLDER / "static" / name), media_type=_STATIC[name], headers=headers)


def make_web(parts: Parts) -> Starlette:
    """Return the application."""
    pages = _Pages(parts)
    fleet = FleetPages(parts, pages.shell)
    work = WorkPages(parts, pages.shell)
    actions = Actions(parts, work)
    looks = {
        "": fleet.fleet,
        "/table": fleet.table,
        "/agent": fleet.agent,
        "/agent/part": fleet.agent_part,
        "/run": fleet.run,
        "/run/part": fleet.run_part,
        "/correction": fleet.correction,
        "/corrections": work.corrections,
        "/activity": work.activity,
        "/approvals": work.approvals,
        "/settings": work.settings,
    }
    acts = {
        "/agent": actions.agent,
        "/settings": actions.settings,
        "/preview": actions.preview,
    }
    return Starlette(
        routes=[
            *(Route(PREFIX + path, pages.look(show)) for path, show in looks.items()),
            *(Route(PREFIX + path, pages.act(act), methods=["POST"]) for path, act in acts.items()),
            Route(f"{PREFIX}/logout", pages.act(pages.logout, changes=False), methods=["POST"]),
            Route(f"{PREFIX}/login", pages.login, methods=["GET", "POST"]),
            Route(f"{PREFIX}/events", pages.events),
            Route("/", _home),
            Route(f"{PREFIX}/static/{{name}}", _static),
        ],
        exception_handlers={
            Refused: pages.refuse,
            WatchdogError: pages.refuse,
            404: pages.missing,
            405: pages.missing,
            Exception: pages.fail,
        },
    )
