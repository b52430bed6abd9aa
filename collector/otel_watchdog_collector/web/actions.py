"""What people do with the pages' forms."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import yaml
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from otel_watchdog.errors import WatchdogError
from otel_watchdog.model import Mode
from otel_watchdog_collector.health import HealingMode
from otel_watchdog_collector.web.door import Refused, Visit
from otel_watchdog_collector.web.parts import PREFIX, Parts
from otel_watchdog_collector.web.preview import DAYS, Preview, preview
from otel_watchdog_collector.web.views import HEADERS, link
from otel_watchdog_collector.web.work_pages import WorkPages

MAX_SETTINGS_CHARS: Final = 20_000

_DAY: Final = 86_400.0


class Actions:
    """Does as forms say.

    Args:
        parts: What there is to do.
        work: Renders the settings' page.
    """

    def __init__(self, parts: Parts, work: WorkPages) -> None:
        self._parts = parts
        self._work = work
        self._trying = asyncio.Lock()

    async def agent(self, visit: Visit, form: Mapping[str, str]) -> Response:
        """Leave an agent alone, or let it be healed again."""
        id_ = form.get("agent", "")
        fleet, by = self._parts.fleet, visit.client.name
        if form.get("do") == "pause":
            known = await fleet.pause(visit.tenant, id_, by)
        elif form.get("do") == "resume":
            known = await fleet.resume(visit.tenant, id_, by)
        else:
            raise Refused(400, "do: pause or resume")
        if not known:
            raise Refused(404, "the agent has not been judged yet; try again in half a minute")
        return RedirectResponse(link(f"{PREFIX}/agent", id=id_), 303, HEADERS)

    async def settings(self, visit: Visit, form: Mapping[str, str]) -> Response:
        """Change the mode, the mode of healing, or the kill switch."""
        fleet, by = self._parts.fleet, visit.client.name
        try:
            if "mode" in form:
                mode = Mode[form["mode"].upper()]
                await self._parts.set_mode(visit.tenant, mode)
                await fleet.note_mode(visit.tenant, mode, by)
            elif "healing" in form:
                await fleet.set_mode(visit.tenant, HealingMode(form["healing"]), by)
            elif form.get("kill") in {"on", "off"}:
                await fleet.set_pause(visit.tenant, paused=form["kill"] == "on", by=by)
            else:
                raise Refused(400, "mode, healing or kill is needed")
        except (KeyError, ValueError):
            raise Refused(400, "there is no such mode") from None
        return RedirectResponse(f"{PREFIX}/settings", 303, HEADERS)

    async def preview(self, visit: Visit, form: Mapping[str, str]) -> Response:
        """Say what other settings would have made of the last days; one at a time is worked out."""
        written = form.get("watchdog", "")[:MAX_SETTINGS_CHARS]
        if self._trying.locked():
            raise Refused(503, "another preview is being worked out; try again in a moment")
        async with self._trying:
            try:
                found = await run_in_threadpool(self._try, visit.tenant, _read(written))
            except (WatchdogError, ValueError, yaml.YAMLError) as error:
                return self._work.settings_page(visit, written, 422, problem=_first(error))
        return self._work.settings_page(visit, written, preview=found)

    def _try(self, tenant: str, given: Mapping[str, Any]) -> Preview:
        parts = self._parts
        since = parts.clock() - DAYS * _DAY
        now, then = parts.library(parts.watchdog), parts.library(given)
        return preview(parts.store, tenant, since, now, then)


def _read(written: str) -> Mapping[str, Any]:
    """Return settings that were written as YAML.

    Raises:
        ValueError: They are none.
    """
    given = yaml.safe_load(written) if written.strip() else {}
    if not isinstance(given, dict):
        raise ValueError("settings are needed: lines of `name: value`")  # noqa: TRY004 - a value of somebody's, not of ours
    if "mode" in given:
        raise ValueError("mode stands above, not here")
    return {str(name): value for name, value in given.items()}


def _first(error: Exception) -> str:
    """Return what is wrong, in few lines."""
    return "\n".join(str(error).splitlines()[:4])
