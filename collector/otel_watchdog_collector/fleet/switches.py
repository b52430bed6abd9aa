"""The kill switches: each lowers what may be done, none ever raises it."""

from collections.abc import Callable
from pathlib import Path

from otel_watchdog.config import is_paused
from otel_watchdog_collector.health import HealingMode


class Switches:
    """Asks the environment, a file, and what people set by the API, at every decision.

    Args:
        file: On while it exists; `None`: there is no such file.
        by_environment: Says whether `OTEL_WATCHDOG_PAUSE` is set.
    """

    def __init__(
        self, file: Path | None = None, *, by_environment: Callable[[], bool] = is_paused
    ) -> None:
        self._file = file
        self._by_environment = by_environment
        self._tenants: set[str] = set()

    def set(self, tenant: str, *, on: bool) -> None:
        """Turn a tenant's own switch on or off."""
        if on:
            self._tenants.add(tenant)
        else:
            self._tenants.discard(tenant)

    def on(self, tenant: str) -> list[str]:
        """Return which are on for a tenant; one that cannot be asked is."""
        found = ["environment"] if self._by_environment() else []
        if self._file is not None and _exists(self._file):
            found.append("file")
        if tenant in self._tenants:
            found.append("api")
        return found

    def lowered(self, tenant: str, mode: HealingMode) -> HealingMode:
        """Return a mode as the switches leave it."""
        return HealingMode.OBSERVE if mode is HealingMode.HEAL and self.on(tenant) else mode


def _exists(file: Path) -> bool:
    try:
        return file.exists()
    except OSError:
        return True
