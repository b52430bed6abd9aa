"""Finds an agent that does over again what another agent of the same trace has done."""

from typing import ClassVar, Final

from otel_watchdog.evidence.checks import is_check
from otel_watchdog.evidence.exchanges import HAND_OFF, READ, WRITE, Exchange
from otel_watchdog.evidence.failures import acknowledges
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.evidence.teams import Team
from otel_watchdog.keys import key_of
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult, UserMessage
from otel_watchdog.progress import Progress, is_ours
from otel_watchdog.wording import shortened

MIN_WORDS: Final = 3
"""In one argument of a call that asks something; `ls src` and a button's name are no work."""

MIN_WRITTEN_WORDS: Final = 8
"""In the arguments of a call that writes something; a folder that both make is no work."""

MAX_WORD_CHARS: Final = 2000
"""Of an argument in which words are counted."""


class DuplicateWork:
    """Fires when `threshold` pieces of work in a row were done before by one other agent.

    Both agents are of one conversation, else of one trace, or work inside one agent's run. Work is
    a call that takes more than a word to ask, such as a search, a query, a program or a text that
    is written, and each has to have brought the other agent the same result, but for clocks, ids
    and the like. Work that the other has not done starts the count anew, and so does a word of the
    user. Of each agent the 64 different calls that it made last are known.

    Reading the same files, running the same tests, preparing the same folders, asking for a status
    and handing over are no work of this kind: workers start alike, and reviewers read and check
    what was written.

    Severity is warn: nobody but who gave the task knows whether it was to be done twice.

    Known false positive: agents that are to answer one question independently of each other, for a
    vote or a second opinion.

    Threshold: 5; 2 to 6 warn none of the 117 runs at hand that have several agents and in which
    nothing is to be found. None of those to be found has this fault, so it was chosen by hand: two
    that begin with the same searches have done 2 or 3 alike.

    Args:
        threshold: Pieces of work in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_done", "_threshold", "_told")

    name: ClassVar[str] = "duplicate_work"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult, UserMessage)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(self, *, threshold: int = 5) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._done: dict[str, dict[str, None]] = {}
        """By the other agent's session: the pieces of work in a row that it has done before."""
        self._told = False

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        team = progress.team
        if team is None or len(team) == 1:
            return None
        if type(observation) is not ToolResult:
            if type(observation) is UserMessage and not is_ours(observation):
                self.restart()
            return None
        exchange = progress.exchange
        if exchange is None or not exchange.is_known or exchange.is_idle or exchange.is_poll:
            return None
        if exchange.effect is HAND_OFF or exchange.trouble is not None:
            return None
        return self._compare(exchange, team, progress)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._done = {}
        self._told = False

    def _compare(self, exchange: Exchange, team: Team, progress: Progress) -> Finding | None:
        """Look whether others of the team have done the same."""
        others = {
            session: colleague
            for session, colleague in team.others(progress)
            if colleague.has_done(exchange)
        }
        if not others:
            if exchange.effect is not READ or _is_work(exchange):
                self.restart()
            return None
        if not _is_work(exchange):
            return None
        work = exchange.identity or ""
        self._done = {session: {**self._done.get(session, {}), work: None} for session in others}
        first = max(others, key=lambda session: len(self._done[session]))
        count = len(self._done[first])
        if self._told or count < self._threshold:
            return None
        self._told = True
        return self._finding(exchange, first, others[first].agent, count)

    def _finding(self, exchange: Exchange, session: str, agent: str | None, count: int) -> Finding:
        tool = shortened(exchange.tool)
        arguments = shortened(exchange.key.partition("\0")[2])
        name = shortened(agent or "", 60)
        other = f"the agent {name}" if name else "another agent"
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=(
                f"{other} had done the last {count} pieces of work before, with the same results; "
                f"the latest is {tool} with {arguments}"
            ),
            guidance=(
                f"What you have just done had been done before: {other}, which works on the same "
                f"task, has made your last {count} calls and got the same results; the latest is "
                f"{tool} with {arguments}. Ask for what it has found, or take it from where it "
                "stands, and do what nobody has done yet. If both of you are meant to do the same, "
                "say so and go on."
            ),
            evidence={"agent": name, "tool": tool, "arguments": arguments, "count": count},
            key=key_of(self.name, {"tool": session}),
        )


def _is_work(exchange: Exchange) -> bool:
    """Say whether a call is more than looking around, preparing or checking."""
    words = [value[:MAX_WORD_CHARS].count(" ") + 1 for value in exchange.values]
    if exchange.effect is WRITE:
        return sum(words) >= MIN_WRITTEN_WORDS
    if max(words, default=0) < MIN_WORDS or not exchange.text or acknowledges(exchange.text):
        return False
    if exchange.effect is READ:
        return not exchange.is_shell
    return not is_check(exchange)
