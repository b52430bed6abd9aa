"""What the pages are handed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from otel_watchdog.config import WatchdogConfig
from otel_watchdog.model import Mode
from otel_watchdog_collector.access import Access
from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.health import HealingMode
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.web.live import Live

PREFIX: Final = "/fleet"
"""Opens the addresses of all pages."""


class Control(Protocol):
    """What people may do about a tenant's fleet; `by` is the name of who asks."""

    def mode(self, tenant: str) -> HealingMode:
        """Return the mode of healing as it was set."""
        ...

    def acting(self, tenant: str) -> HealingMode:
        """Return the mode of healing as it is now."""
        ...

    def paused_by(self, tenant: str) -> list[str]:
        """Return which kill switches are on."""
        ...

    def activity(self, tenant: str, days: int) -> Mapping[str, Any]:
        """Return what was done in the last days."""
        ...

    async def set_mode(self, tenant: str, mode: HealingMode, by: str) -> None:
        """Set the mode of healing."""
        ...

    async def set_pause(self, tenant: str, *, paused: bool, by: str) -> None:
        """Turn the tenant's own kill switch on or off."""
        ...

    async def pause(self, tenant: str, agent: str, by: str) -> bool:
        """Leave an agent alone until it is resumed; false if it is not known."""
        ...

    async def resume(self, tenant: str, agent: str, by: str) -> bool:
        """Let an agent be healed again; false if it is not known."""
        ...

    async def note_mode(self, tenant: str, mode: Mode, by: str) -> None:
        """Write down that a person changed what agents may be told."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the pages ask."""

    store: Store
    access: Access
    meters: Meters
    clock: WallClock
    live: Live
    fleet: Control
    mode: Callable[[str], Mode]
    """Returns a tenant's mode."""
    set_mode: Callable[[str, Mode], Awaitable[None]]
    setting_lines: Callable[[], list[str]]
    watchdog: Mapping[str, Any]
    """The library's settings as they were given."""
    library: Callable[[Mapping[str, Any]], WatchdogConfig]
    """Returns the library's settings with these given instead.

    Raises:
        ValueError: One of them is wrong.
    """
    history_chars: int
    """Characters of a text that are kept of what agents do; 0: nothing is."""
    is_tls: bool
    """Whether the service itself speaks TLS."""
