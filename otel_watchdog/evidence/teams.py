"""Who works with whom: the agents of one conversation, else of one trace, see each other's calls.

Agents of different conversations are apart even in one trace: some servers put all that they do
into one. Nothing is kept twice: what an agent has done is looked up in its own record, and only
where there is another agent to ask.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Protocol

from otel_watchdog.evidence.exchanges import Exchange
from otel_watchdog.evidence.masks import are_alike

MAX_MEMBERS: Final = 32
"""Agents of a team that see each other; who joined first is left out first."""


class Member(Protocol):
    """The record of one agent's calls."""

    @property
    def era(self) -> int:
        """How many times a user has spoken to it."""
        ...

    def latest(self, identity: str) -> Exchange | None:
        """Return the record of a call as it finished last; `None` if it is not remembered."""
        ...


class Colleague(NamedTuple):
    """One agent of a team."""

    agent: str | None
    """Its name; `None` where the trace does not say."""
    member: Member

    def has_done(self, exchange: Exchange) -> bool:
        """Say whether it has made the same call with the same result.

        What it did before a user spoke to it does not count: the question may be a new one.

        Args:
            exchange: Another agent's call.
        """
        if exchange.identity is None:
            return False
        own = self.member.latest(exchange.identity)
        if own is None or not own.is_known or own.era != self.member.era:
            return False
        if own.outcome is not exchange.outcome:
            return False
        return own.raw == exchange.raw or are_alike(
            own.text, exchange.text, own.values, exchange.values
        )


class Team:
    """The agents of one conversation, else of one trace.

    Args:
        place: What they share.
    """

    __slots__ = ("_members", "place")

    def __init__(self, place: str) -> None:
        self.place = place
        self._members: dict[str, Colleague] = {}
        """By session."""

    def __len__(self) -> int:
        """Return how many agents there are."""
        return len(self._members)

    def join(self, session: str, colleague: Colleague) -> None:
        """Take in an agent, or know it by another name."""
        self._members[session] = colleague
        if len(self._members) > MAX_MEMBERS:
            del self._members[next(iter(self._members))]

    def leave(self, session: str) -> None:
        """Forget an agent; nothing, if it is none of the team."""
        self._members.pop(session, None)

    def others(self, member: Member) -> Iterator[tuple[str, Colleague]]:
        """Yield all but one of them, each with its session."""
        for session, colleague in self._members.items():
            if colleague.member is not member:
                yield session, colleague


class Teams:
    """The teams of all sessions that are kept; one without members is forgotten."""

    def __init__(self) -> None:
        self._teams: dict[str, Team] = {}

    def move(
        self, team: Team | None, place: str | None, session: str, colleague: Colleague
    ) -> Team | None:
        """Put an agent into the team of a place, and out of the one before; return the team.

        Args:
            team: Its team so far; `None`: it had none.
            place: The conversation's id, else the trace's; `None`: the trace does not say.
            session: The agent's.
            colleague: The agent.
        """
        if team is not None and team.place != place:
            self.leave(team, session)
        if place is None:
            return None
        found = self._teams.get(place)
        if found is None:
            found = self._teams[place] = Team(place)
        found.join(session, colleague)
        return found

    def leave(self, team: Team | None, session: str) -> None:
        """Take an agent out of its team."""
        if team is None:
            return
        team.leave(session)
        if not team and self._teams.get(team.place) is team:
            del self._teams[team.place]

    def add(self, teams: Iterable[Team | None]) -> None:
        """Take in teams that were put together before a restart."""
        self._teams.update((team.place, team) for team in teams if team is not None)
