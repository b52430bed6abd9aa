"""Opens and closes incidents as conditions and healing have it, and writes that down."""

from collections.abc import Callable, Mapping

from otel_watchdog_collector.fleet.agents import AgentState
from otel_watchdog_collector.fleet.conditions import Answer
from otel_watchdog_collector.fleet.incidents import IncidentKind, Incidents, Trouble
from otel_watchdog_collector.fleet.scribe import Scribe
from otel_watchdog_collector.health import ConditionType, Status

_BY_PROVIDER = frozenset({IncidentKind.AUTH, IncidentKind.PROVIDER_OUTAGE})


class Alarms:
    """Raises and clears one fleet's incidents.

    Args:
        incidents: Theirs.
        scribe: The fleet's.
        provider_of: Returns an agent's provider, if it is known.
        population: Counts the agents of a provider or service.
    """

    def __init__(
        self,
        incidents: Incidents,
        scribe: Scribe,
        provider_of: Callable[[AgentState], str | None],
        population: Callable[[str], int],
    ) -> None:
        self._incidents = incidents
        self._scribe = scribe
        self._provider_of = provider_of
        self._population = population

    def raise_(self, kind: IncidentKind, state: AgentState, cause: str, now: float) -> None:
        """Let people know of an agent's trouble, unless they do."""
        scope = (self._provider_of(state) if kind in _BY_PROVIDER else None) or state.service
        trouble = Trouble(kind, scope, state.id, cause)
        found = self._incidents.raise_(trouble, now, lambda: self._population(scope))
        if found is not None:
            self._scribe.write(
                "incident-opened", now, agent=state.id, incident=found.id, kind=kind.value
            )

    def clear(self, kind: IncidentKind, state: AgentState, now: float) -> None:
        """Take back an agent's trouble, if there was one."""
        found = self._incidents.clear(kind, state.id, now)
        if found is not None:
            self._scribe.write(
                "incident-closed", now, agent=state.id, incident=found.id, kind=kind.value
            )

    def is_outage(self, state: AgentState) -> bool:
        """Say whether other agents fail at this one's provider now: restarts cannot help."""
        provider = self._provider_of(state)
        kind = IncidentKind.PROVIDER_OUTAGE
        return provider is not None and self._incidents.others_in(kind, provider, state.id)

    def judge(self, state: AgentState, answers: Mapping[ConditionType, Answer], now: float) -> None:
        """Raise and clear what conditions say; `Unknown` does neither."""
        auth = answers[ConditionType.AUTHENTICATED]
        if auth.status is Status.FALSE:
            self.raise_(IncidentKind.AUTH, state, f"{state.id}: {auth.reason}", now)
        elif auth.status is Status.TRUE or auth.reason == "RefusedWithUsableCredential":
            self.clear(IncidentKind.AUTH, state, now)
        work = answers[ConditionType.PRODUCING]
        if work.reason == "ProviderInferenceError":
            cause = f"{state.id}: its model calls fail at the provider"
            self.raise_(IncidentKind.PROVIDER_OUTAGE, state, cause, now)
        else:
            self.clear(IncidentKind.PROVIDER_OUTAGE, state, now)
        if work.reason == "NoRecentProduction":
            self.raise_(IncidentKind.NOT_PRODUCING, state, f"{state.id}: {work.message}", now)
        elif work.status is not Status.UNKNOWN:
            self.clear(IncidentKind.NOT_PRODUCING, state, now)
