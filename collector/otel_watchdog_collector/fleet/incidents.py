"""What people should know of, once: troubles of agents, gathered where they have one cause."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import iso

MAX_AGENTS: Final = 200
"""Agents that an incident names; the others are counted."""


class IncidentKind(StrEnum):
    """What it is about."""

    AUTH = "auth"
    PROVIDER_OUTAGE = "provider-outage"
    CRASH_LOOP = "crash-loop"
    WEDGE = "wedge"
    NOT_PRODUCING = "not-producing"


class Trouble(NamedTuple):
    """One agent's part in an incident."""

    kind: IncidentKind
    scope: str
    """Provider or service that it may share with others."""
    agent: str
    cause: str
    """What is said where it is the only one."""


_ERRORS: Final = frozenset({IncidentKind.CRASH_LOOP, IncidentKind.WEDGE})

_TOGETHER: Final[Mapping[IncidentKind, str]] = {
    IncidentKind.AUTH: (
        "{count} of {all} agents of {scope} lost their credential together. That is hardly an "
        "expired login of each: look at what they share first (owner and mode of the credential's "
        "file, a rotated key, a revoked grant), before anybody signs in again or restarts"
    ),
    IncidentKind.PROVIDER_OUTAGE: (
        "{count} of {all} agents of {scope} fail at their model provider together: an outage or a "
        "rate limit of the provider, or the way to it; restarting agents cannot help"
    ),
    IncidentKind.CRASH_LOOP: (
        "{count} of {all} agents of {scope} were restarted in vain: look at what they share first "
        "(a release, a machine, a missing dependency)"
    ),
    IncidentKind.WEDGE: (
        "restarts of {count} of {all} agents of {scope} hang: look at what restarts them"
    ),
    IncidentKind.NOT_PRODUCING: (
        "{count} of {all} agents of {scope} bring forth nothing while work waits: look at what "
        "hands the work out"
    ),
}


@dataclass(slots=True, kw_only=True)
class Incident:
    """Something that people should know of."""

    id: str
    kind: IncidentKind
    scope: str
    cause: str
    opened_at: float
    joined_at: float
    """When the last agent joined it."""
    agents: dict[str, float] = field(default_factory=dict)
    """All that were ever in it, with when they joined first."""
    active: dict[str, float] = field(default_factory=dict)
    """Those that still are, with when they joined."""
    fleet_wide: bool = False
    closed_at: float | None = None

    def fields(self) -> dict[str, Any]:
        """Return it as the API shows it, with what is needed to go on after a restart."""
        return {
            "kind": self.kind.value,
            "severity": "error" if self.kind in _ERRORS or self.fleet_wide else "warning",
            "state": "open" if self.closed_at is None else "closed",
            "scope": self.scope,
            "fleet_wide": self.fleet_wide,
            "cause": self.cause,
            "agents": list(itertools.islice(self.agents, MAX_AGENTS)),
            "opened_at": iso(self.opened_at),
            "closed_at": iso(self.closed_at) if self.closed_at is not None else None,
            "kept": asdict(self) if self.closed_at is None else None,
        }


class Incidents:
    """Opens, gathers and closes incidents. Knows no clock.

    Args:
        config: What makes agents' troubles one.
    """

    def __init__(self, config: FleetConfig) -> None:
        self._config = config
        self._open: dict[str, Incident] = {}
        self._of: dict[tuple[IncidentKind, str], Incident] = {}
        self._changed: dict[str, Incident] = {}
        self._count = 0

    @property
    def open(self) -> list[Incident]:
        """Those that are open, the oldest first."""
        return list(self._open.values())

    def raise_(
        self, trouble: Trouble, now: float, population: Callable[[], int]
    ) -> Incident | None:
        """Take in an agent's trouble; return the incident if it is a new one.

        Args:
            trouble: It.
            now: In seconds since the epoch.
            population: Counts the agents that there are of its scope.
        """
        if (trouble.kind, trouble.agent) in self._of:
            return None
        found = self._near(trouble, now)
        is_new = found is None
        if found is None:
            self._count += 1
            found = Incident(
                id=f"{trouble.kind.value}-{int(now * 1000):x}-{self._count}",
                kind=trouble.kind,
                scope=trouble.scope,
                cause=trouble.cause,
                opened_at=now,
                joined_at=now,
            )
            self._open[found.id] = found
        found.joined_at = now
        found.active[trouble.agent] = now
        self._of[trouble.kind, trouble.agent] = found
        found.agents.setdefault(trouble.agent, now)
        self._correlate(found, now, population())
        self._changed[found.id] = found
        return found if is_new else None

    def clear(self, kind: IncidentKind, agent: str, now: float) -> Incident | None:
        """Take an agent out of its incident of a kind; return the incident if it was the last."""
        found = self._of.pop((kind, agent), None)
        if found is None:
            return None
        found.active.pop(agent, None)
        self._changed[found.id] = found
        if found.active:
            return None
        found.closed_at = now
        del self._open[found.id]
        return found

    def others_in(self, kind: IncidentKind, scope: str, agent: str) -> bool:
        """Say whether other agents of a scope are in an incident of a kind now."""
        return any(
            incident.kind is kind and incident.scope == scope and incident.active.keys() - {agent}
            for incident in self._open.values()
        )

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Go on with an incident that was open.

        Raises:
            KeyError, TypeError, ValueError: It was written by another version.
        """
        found = Incident(**{**kept, "kind": IncidentKind(kept["kind"])})
        self._open[found.id] = found
        self._of |= dict.fromkeys(((found.kind, agent) for agent in found.active), found)

    def take(self) -> list[Incident]:
        """Return those that changed since this was asked last."""
        changed = list(self._changed.values())
        self._changed.clear()
        return changed

    def _near(self, trouble: Trouble, now: float) -> Incident | None:
        """Return an open incident that the trouble belongs to: same scope, and not long ago."""
        for incident in self._open.values():
            same = incident.kind is trouble.kind and incident.scope == trouble.scope
            if same and now - incident.joined_at <= self._config.correlation_seconds:
                return incident
        return None

    def _correlate(self, incident: Incident, now: float, population: int) -> None:
        """Name the likely cause where most agents of a scope came into it within a short time."""
        config = self._config
        recent = [at for at in incident.active.values() if now - at <= config.correlation_seconds]
        together = len(recent) >= config.correlation_agents
        if together and len(recent) / max(population, 1) >= config.correlation_share:
            incident.fleet_wide = True
        if incident.fleet_wide:
            incident.cause = _TOGETHER[incident.kind].format(
                count=len(incident.active), all=population, scope=incident.scope
            )
