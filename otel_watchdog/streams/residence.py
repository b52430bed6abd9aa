"""Who lives where: sessions by conversation and agent, and runs that have no span of their own.

Bounded: sessions by number and by silence, runs by number.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from otel_watchdog.spans import ModelReading, RunReading, Span, ToolReading
from otel_watchdog.streams.runs import Run, Session

MAX_RECENT_RUNS: Final = 1024
"""Ended runs, and runs without a span of their own, that late spans can still be put to."""


class Residence:
    """Sessions and runs that are not in the tree of open spans.

    Args:
        max_sessions: Sessions kept; the least recently heard of is dropped first.
        ttl_seconds: Seconds of silence after which a session is forgotten.
    """

    def __init__(self, *, max_sessions: int, ttl_seconds: float) -> None:
        self._max_sessions = max_sessions
        self._ttl_seconds = ttl_seconds
        self._runs: OrderedDict[object, Run] = OrderedDict()
        """By span id, for spans that end after their run; else by place and agent."""
        self._sessions: OrderedDict[tuple[str, str | None], Session] = OrderedDict()
        """By place, which is a conversation's id or a trace's, and agent."""
        self._homes: dict[str, int] = {}
        """In how many places a session lives, by its key."""
        self.dropped = 0
        """Sessions that were dropped for their number."""

    def find(self, conversation: str | None, agent: str | None) -> str | None:
        """Return the key of the session of an agent in a conversation; `None` if not seen.

        The conversation's only session will do where one of the two agents has no name; an agent
        of another name is another, such as a sub-agent before its first span ended.
        """
        if conversation is None:
            return None
        session = self._sessions.get((conversation, agent))
        if session is None:
            same = [s for s in self.known() if s.conversation == conversation]
            alone = len(same) == 1 and (agent is None or same[0].agent is None)
            session = same[0] if alone else None
        return session.key if session else None

    def find_in_trace(self, trace_id: int, agent: str | None) -> str | None:
        """Return the key of an agent's session in a trace whose runs have no open span.

        The trace's only session will do where one of the two agents has no name.
        """
        run = self._runs.get((trace_id, agent))
        if run is None:
            runs = {id(r): r for r in self._runs.values() if r.number == trace_id}
            run = runs.popitem()[1] if len(runs) == 1 else None
            if run and run.session and agent is not None and run.session.agent is not None:
                return None
        return run.session.key if run is not None and run.session is not None else None

    def known(self) -> list[Session]:
        """Return the sessions that are kept, least recently heard of first."""
        return list({id(session): session for session in self._sessions.values()}.values())

    def places(self) -> dict[str, str]:
        """Return where each session lives, by its key: a conversation's id, else a trace's."""
        return {session.key: place for (place, _), session in self._sessions.items()}

    def keep(self, is_own: Callable[[str], bool]) -> None:
        """Forget the sessions that live where `is_own` denies it, and their runs."""
        places = self.places()
        gone = {id(one) for one in self.known() if not is_own(places[one.key])}
        for place in [place for place, one in self._sessions.items() if id(one) in gone]:
            self._leave(place)
        for key in [key for key, run in self._runs.items() if id(run.session) in gone]:
            del self._runs[key]

    def run(self, span: Span, reading: ToolReading | ModelReading) -> Run:
        """Find or make the run of a span that has no open run above it."""
        parent_id = span.parent_id
        run = self._runs.get(parent_id) if parent_id is not None else None
        if run is not None:
            return run
        place = (reading.session, reading.agent)
        run = self._runs.get(place) if reading.session is not None else None
        if run is None:
            here = (span.trace_id, reading.agent)
            run = self._runs.get(here)
            if run is None or not _is_of(run, reading.session):
                run = Run(span.trace_id)
                self.remember(here, run)
            if reading.session is not None:
                self.remember(place, run)
        return run

    def adopt(self, span: Span, reading: RunReading, *, outermost: bool) -> Run | None:
        """Find the run of a span that said nothing when it began: its children came before it.

        Args:
            span: The run's span.
            reading: What was read of it.
            outermost: Nothing is open around it: it may be the run of spans without an agent.
        """
        for agent in dict.fromkeys((reading.agent, None) if outermost else (reading.agent,)):
            for place in (span.trace_id, reading.session):
                run = self._runs.get((place, agent))
                if run is not None:
                    for key in [key for key, other in self._runs.items() if other is run]:
                        del self._runs[key]
                    return run
        return None

    def remember(self, key: object, run: Run) -> None:
        """Keep a run that is not, or no longer, in the tree."""
        self._runs[key] = run
        if len(self._runs) > MAX_RECENT_RUNS:
            self._runs.popitem(last=False)

    def session(self, span: Span, *, conversation: str | None, agent: str | None) -> Session:
        """Find or make the session of an agent in a conversation, else in a trace."""
        place = conversation or f"{span.trace_id:032x}"
        session = self._sessions.get((place, agent))
        if session is None:
            key = f"{place}/{agent or '-'}" if place in self._homes else place
            session = Session(key, conversation, agent, place)
            self._settle((place, agent), session)
            self._forget(span)
        self._sessions.move_to_end((place, agent))
        return session

    def bind(self, run: Run, reading: ToolReading | ModelReading | RunReading) -> None:
        """Take note of a conversation's id or an agent's name that only a later span carries."""
        session = run.session
        if session is None:
            return
        session.agent = session.agent or reading.agent
        if reading.session and session.conversation is None:
            session.conversation = reading.session
            self._settle((reading.session, session.agent), session)

    def restore(
        self,
        runs: Mapping[object, Run],
        sessions: Mapping[tuple[str, str | None], Session],
    ) -> None:
        """Know again what was known before a restart, beside what is known."""
        self._runs.update(runs)
        for place, session in sessions.items():
            self._settle(place, session)

    def _settle(self, place: tuple[str, str | None], session: Session) -> None:
        """Have a session live in a place; who lived there does no longer."""
        self._leave(place)
        self._sessions[place] = session
        self._homes[session.key] = self._homes.get(session.key, 0) + 1

    def _leave(self, place: tuple[str, str | None]) -> None:
        session = self._sessions.pop(place, None)
        if session is None:
            return
        self._homes[session.key] -= 1
        if not self._homes[session.key]:
            del self._homes[session.key]

    def _forget(self, span: Span) -> None:
        now = span.end or span.start
        while self._sessions:
            place, oldest = next(iter(self._sessions.items()))
            silent = oldest.seen and now - oldest.seen > self._ttl_seconds
            if not silent and len(self._sessions) <= self._max_sessions:
                return
            self._leave(place)
            for key in [key for key, run in self._runs.items() if run.session is oldest]:
                del self._runs[key]
            self.dropped += not silent


def _is_of(run: Run, conversation: str | None) -> bool:
    """Say whether a run may be part of a conversation: nothing says that it is of another."""
    session = run.session
    if session is None or conversation is None:
        return True
    return session.conversation in (None, conversation)
