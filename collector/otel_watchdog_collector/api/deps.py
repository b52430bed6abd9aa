"""What the API asks, who may ask it, and what every route may answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol

from fastapi import Header
from starlette.exceptions import HTTPException

from otel_watchdog.model import Mode
from otel_watchdog_collector.access import Access, Client
from otel_watchdog_collector.api.models import Problem
from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.health import HealingMode, Report
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.stores import Store

PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Problem, "description": "The body is not JSON."},
    401: {"model": Problem, "description": "No token, or an unknown one."},
    403: {"model": Problem, "description": "A token that may not do this."},
    422: {"model": Problem, "description": "A parameter is wrong."},
    503: {"model": Problem, "description": "The store cannot be asked now."},
}


class FleetControl(Protocol):
    """What people may do about a tenant's fleet; each call is written into the audit.

    `by` is who asks: the name of a token.
    """

    def mode(self, tenant: str) -> HealingMode:
        """Return the mode as it was set."""
        ...

    def acting(self, tenant: str) -> HealingMode:
        """Return the mode as it is now, with every kill switch heeded."""
        ...

    def paused_by(self, tenant: str) -> list[str]:
        """Return which kill switches are on: `environment`, `file`, `api`."""
        ...

    def activity(self, tenant: str, days: int) -> Mapping[str, Any]:
        """Return what was done in the last days, as the API's `Activity` has it."""
        ...

    async def set_mode(self, tenant: str, mode: HealingMode, by: str) -> None:
        """Set the mode, from now on and after a restart."""
        ...

    async def set_pause(self, tenant: str, *, paused: bool, by: str) -> None:
        """Turn the tenant's own kill switch on or off."""
        ...

    async def pause(self, tenant: str, agent: str, by: str) -> bool:
        """Leave an agent alone until it is resumed; false if it is not known."""
        ...

    async def resume(self, tenant: str, agent: str, by: str) -> bool:
        """Let an agent be healed again, with one attempt; false if it is not known."""
        ...

    async def report(self, tenant: str, agent: str, report: Report, by: str) -> None:
        """Take in what an orchestrator says of an agent."""
        ...

    async def note_mode(self, tenant: str, mode: Mode, by: str) -> None:
        """Write down that a person changed what agents may be told."""
        ...


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
    is_paused: Callable[[str], bool]
    """Says whether a kill switch lowers a tenant's mode now."""
    set_mode: Callable[[str, Mode], Awaitable[None]]
    fleet: FleetControl
    is_ready: Callable[[], bool]
    setting_lines: Callable[[], list[str]]


def needs(deps: Deps, action: str) -> Callable[..., Client]:
    """Return what finds the client of a request, and refuses those that may not do this."""

    def client(
        authorization: Annotated[str | None, Header(include_in_schema=False)] = None,
        host: Annotated[str | None, Header(include_in_schema=False)] = None,
    ) -> Client:
        if not deps.access.is_reached_by(host):
            deps.meters.add("denied_requests_total")
            raise HTTPException(403, "without tokens, this is 127.0.0.1 or localhost alone")
        found = deps.access.client(authorization)
        if found is None or not found.may(action):
            deps.meters.add("denied_requests_total")
            status = 401 if found is None else 403
            raise HTTPException(status, f"a token that may {action} is needed")
        return found

    return client
