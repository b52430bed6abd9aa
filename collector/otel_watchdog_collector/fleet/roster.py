"""Which agents a fleet has: bounded, and forgotten when nobody waits for them any more."""

from collections import Counter, OrderedDict
from typing import Final

from otel_watchdog_collector.fleet.agents import AgentState
from otel_watchdog_collector.fleet_config import FleetConfig

MAX_AGENTS: Final = 20_000
"""Agents of a tenant that are judged; the least recently heard of is dropped first."""

FORGET_SECONDS: Final = 7 * 86_400.0
"""Silence after which an agent that nobody declared or paused is forgotten."""


class Roster:
    """The agents of one fleet.

    Args:
        config: What is declared of them; those that are expected under a plain id are there.
    """

    def __init__(self, config: FleetConfig) -> None:
        self.agents: OrderedDict[str, AgentState] = OrderedDict()
        """By id, least recently heard of first."""
        self._config = config
        self._counts: Counter[str | None] = Counter()
        self._named: set[str] = set()
        for one in config.agents:
            if one.expected and not set(one.match) & set("*?["):
                self.of(one.match)

    @property
    def is_full(self) -> bool:
        """Whether there are more than may be."""
        return len(self.agents) > MAX_AGENTS

    def of(self, id_: str, service: str = "", agent: str = "") -> AgentState:
        """Return an agent; it is made, if there was none.

        Args:
            id_: Its id.
            service: Its service; default: what its id begins with.
            agent: Its name; default: the rest.
        """
        state = self.agents.get(id_)
        if state is None:
            if not service:
                service, _, agent = id_.partition("/")
            state = AgentState(id=id_, service=service, agent=agent or service)
            self.agents[id_] = state
        else:
            self.agents.move_to_end(id_)
        return state

    def oldest(self) -> AgentState:
        """Return the least recently heard of."""
        return next(iter(self.agents.values()))

    def count(self) -> None:
        """Count the agents of each provider and service; see `population` and `is_part`."""
        agents = self.agents.values()
        self._counts = Counter(
            scope for state in agents for scope in {self.provider(state), state.service}
        )
        self._named = {state.service for state in agents if state.agent != state.service}

    def population(self, scope: str) -> int:
        """Return how many agents a provider or service had when they were counted."""
        return self._counts[scope]

    def is_part(self, state: AgentState) -> bool:
        """Say whether it is no agent, but spans of agents whose names came later."""
        return state.agent == state.service and state.service in self._named

    def restarting(self) -> int:
        """Return how many restarts are in work."""
        return sum(one.restarting_since is not None for one in self.agents.values())

    def provider(self, state: AgentState) -> str | None:
        """Return an agent's model provider, by its spans or as declared; `None`: not known."""
        if state.evidence.provider is not None:
            return state.evidence.provider
        declared = self._config.declared(state.id)
        return declared.provider if declared is not None else None

    def is_long_gone(self, state: AgentState, now: float) -> bool:
        """Say whether nobody waits for an agent any more."""
        seen_at = state.evidence.last_seen_at
        if seen_at is None or state.paused is not None or now - seen_at < FORGET_SECONDS:
            return False
        return self._config.declared(state.id) is None
