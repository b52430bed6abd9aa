"""Writes a tenant's audit: what was done, would have been done, changed or was allowed."""

import itertools
from typing import Final, TypeAlias

from otel_watchdog_collector.health import USER, AuditEntry

TICK_SECONDS: Final = 1e-6
"""By which entries of one moment are told apart, so that they stay in order."""

Detail: TypeAlias = str | int | float | bool | None


class Scribe:
    """Gathers entries until they are asked for. Knows no clock.

    Args:
        tenant: Whose audit.
    """

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant
        self._entries: list[AuditEntry] = []
        self._numbers = itertools.count()
        self._at = 0.0

    def write(
        self,
        action: str,
        now: float,
        *,
        by: str = USER,
        agent: str | None = None,
        **detail: Detail,
    ) -> None:
        """Write an entry.

        Args:
            action: See `AuditEntry.action`.
            now: In seconds since the epoch.
            by: Who did it.
            agent: Whom it is about.
            **detail: Reasons and counts; never what an agent, tool or provider said.
        """
        self._at = at = max(now, self._at + TICK_SECONDS)
        self._entries.append(
            AuditEntry(
                id=f"{int(at * 1000):013x}-{next(self._numbers):06x}",
                tenant=self._tenant,
                at=at,
                action=action,
                user=by,
                agent=agent,
                detail=detail,
            )
        )

    def take(self) -> list[AuditEntry]:
        """Return the entries since this was asked last."""
        entries, self._entries = self._entries, []
        return entries
