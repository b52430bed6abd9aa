"""What an agent did after it was corrected: did it change anything?

After each claimed correction the next turns are compared with the evidence that had caused it. An
agent that thanks for the advice and goes on as before is told apart from one that took it.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from otel_watchdog.evidence.exchanges import Effect, Exchange
from otel_watchdog.evidence.likeness import overlap, words_of
from otel_watchdog.model import (
    Correction,
    CorrectionOutcome,
    Finding,
    Kind,
    ModelTurn,
    Observation,
    Outcome,
    RunEnded,
    Tier,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MAX_OPEN: Final = 4
"""Corrections of a session whose answer is awaited at a time; the oldest ends as unknown."""

MAX_HEEDED: Final = 32
"""Heeded corrections of a session that are remembered, to know a relapse."""

ALIKE: Final = 0.85
"""Share of common words from which two messages say the same."""

MIN_IDLE_CALLS: Final = 3
"""Calls without anything new that are no answer to a correction."""

MAX_TOOLS: Final = 5
_PASSED: Final = frozenset({Effect.WAIT, Effect.THINK})
_STOPS: Final = frozenset({Kind.DONE_BUT_CONTINUING, Kind.AUTH})


class Cause(NamedTuple):
    """The evidence that a correction rests on, as far as later calls can be compared with it."""

    key: str
    """Of the finding that spoke."""
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    """Of the call that completed the pattern; `None` where it was none or is not known."""
    identity: str | None = None
    """Of the same call, once it had a result."""
    digest: int | None = None
    signature: str | None = None
    """Of its error."""
    words: frozenset[str] = frozenset()
    """Of the message that completed it, where no call did."""


def cause_of(finding: Finding, observation: Observation, progress: Progress) -> Cause:
    """Return what to compare the next turns with.

    Args:
        finding: The one that speaks.
        observation: What completed its pattern.
        progress: The session's evidence.
    """
    if isinstance(observation, ModelTurn):
        return Cause(finding.key, words=words_of(observation.text or observation.reasoning or ""))
    exchange = progress.exchange
    if isinstance(observation, ToolCall):
        return Cause(finding.key, progress.call.name, progress.call.arguments)
    if exchange is None:
        return Cause(finding.key)
    return Cause(
        finding.key,
        exchange.tool,
        exchange.arguments,
        exchange.identity,
        exchange.digest,
        exchange.signature,
    )


def _is_asked(exchange: Exchange, tool: str | None, arguments: Mapping[str, Any] | None) -> bool:
    return arguments is not None and exchange.tool == tool and exchange.arguments == arguments


class _Response:
    """One correction whose answer is awaited."""

    __slots__ = "calls cause correction epoch heeded known news others repeats turn".split()  # noqa: SIM905 - a list

    def __init__(self, correction: Correction, cause: Cause, turn: int, progress: Progress) -> None:
        exchange = progress.exchange
        self.correction = correction
        self.cause = cause
        self.turn = turn
        """The first that held the message."""
        self.news = progress.news
        self.epoch = exchange.epoch if exchange is not None else 0
        self.calls = 0
        self.known = 0
        self.repeats = 0
        self.heeded: int | None = None
        """The first turn that brought something else."""
        self.others: dict[str, None] = {}


class Responses:
    """The answers to one session's corrections.

    Ignored is a correction after which the same call, result or error comes again with nothing
    changed in between, twice where something was; or after which several calls brought nothing
    new. Heeded is one after which other calls bring something new and that does not happen.
    Relapsed: what was heeded is found again, however late. Unknown: nobody can say.

    Args:
        turns: Turns after a claim that are looked at, at least 1.
        calls: Calls after it that are looked at, at least 1; whichever comes first ends it.
    """

    __slots__ = ("_calls", "_heeded", "_turns", "open")

    def __init__(self, *, turns: int = 3, calls: int = 8) -> None:
        self._turns = turns
        self._calls = calls
        self.open: list[_Response] = []
        self._heeded: dict[str, Correction] = {}

    def expect(
        self, correction: Correction, cause: Cause, turn: int, progress: Progress
    ) -> list[Outcome]:
        """Await the answer to a claimed correction.

        Args:
            correction: What was claimed.
            cause: What it was made for.
            turn: The first turn whose model call held it.
            progress: The session's evidence.
        """
        self.open.append(_Response(correction, cause, turn, progress))
        if len(self.open) <= MAX_OPEN:
            return []
        return [_outcome(self.open.pop(0), CorrectionOutcome.UNKNOWN, turn)]

    def observe(self, observation: Observation, progress: Progress) -> list[Outcome]:
        """Compare what happens with what had caused the corrections; call while `open`."""
        told: list[Outcome] = []
        for response in list(self.open):
            outcome = self._judge(response, observation, progress)
            if outcome is not None:
                self.open.remove(response)
                told.append(self._close(response, outcome, observation.turn))
        return told

    def find(self, findings: list[Finding], turn: int) -> list[Outcome]:
        """Take note of findings: a known one was ignored, or is back."""
        told = []
        for finding in findings:
            response = next((r for r in self.open if r.cause.key == finding.key), None)
            if response is not None and turn >= response.turn:
                self.open.remove(response)
                response.repeats += 1
                told.append(_outcome(response, CorrectionOutcome.IGNORED, turn))
            elif finding.key in self._heeded:
                back = self._heeded.pop(finding.key)
                told.append(
                    Outcome(
                        correction=back,
                        outcome=CorrectionOutcome.RELAPSED,
                        turn=turn,
                        response=f"{finding.detector} has found it again in turn {turn}",
                    )
                )
        return told

    def end(self, turn: int) -> list[Outcome]:
        """Close what is open: another run begins."""
        told = [self._close(one, self._end(one, has_ended=True), turn) for one in self.open]
        self.open.clear()
        return told

    def _judge(
        self, response: _Response, observation: Observation, progress: Progress
    ) -> CorrectionOutcome | None:
        if isinstance(observation, RunEnded):
            return self._end(response, has_ended=True)
        turn = observation.turn
        if turn - response.turn >= self._turns:
            return self._end(response)
        if turn >= response.turn:
            if isinstance(observation, ModelTurn):
                return self._hear(response, observation)
            if isinstance(observation, ToolResult) and progress.exchange is not None:
                return self._see(response, progress.exchange, turn)
        return None

    def _hear(self, response: _Response, said: ModelTurn) -> CorrectionOutcome | None:
        """Judge a message, where it was messages that went round."""
        words = response.cause.words
        if not words or not (said.text or said.reasoning):
            return None
        response.known += 1
        if not said.tool_calls and overlap(words, words_of(said.text or said.reasoning or "")) >= (
            ALIKE
        ):
            response.repeats += 1
            return CorrectionOutcome.IGNORED
        response.heeded = response.heeded or said.turn
        return None

    def _see(self, response: _Response, exchange: Exchange, turn: int) -> CorrectionOutcome | None:
        """Judge a finished call."""
        if exchange.effect in _PASSED:
            return None
        response.calls += 1
        response.known += exchange.is_known
        cause = response.cause
        if not exchange.is_novel and _is_same(cause, exchange):
            response.repeats += 1
            if exchange.epoch == response.epoch or response.repeats > 1:
                return CorrectionOutcome.IGNORED
        elif self._is_other(response, exchange) and response.heeded is None:
            response.heeded = turn
        return self._end(response) if response.calls >= self._calls else None

    def _is_other(self, response: _Response, exchange: Exchange) -> bool:
        """Say whether a call brought something else than before."""
        if len(response.others) < MAX_TOOLS:
            response.others[shortened(exchange.tool, 60)] = None
        if exchange.outcome is ToolOutcome.ERROR:
            return response.cause.signature is not None and exchange.signature is not None
        return exchange.is_novel or exchange.news > response.news

    def _end(self, response: _Response, *, has_ended: bool = False) -> CorrectionOutcome:
        correction = response.correction
        if response.heeded is not None and not response.repeats:
            return CorrectionOutcome.HEEDED
        if has_ended:
            told_to_stop = correction.tier >= Tier.FORCE_WRAP or correction.finding.kind in _STOPS
            if told_to_stop and not response.repeats:
                return CorrectionOutcome.HEEDED
            return CorrectionOutcome.UNKNOWN
        idle = response.known >= MIN_IDLE_CALLS and response.heeded is None
        return CorrectionOutcome.IGNORED if idle else CorrectionOutcome.UNKNOWN

    def _close(self, response: _Response, outcome: CorrectionOutcome, turn: int) -> Outcome:
        turn = max(turn, response.turn)
        if outcome is CorrectionOutcome.HEEDED:
            key = response.cause.key
            self._heeded.pop(key, None)
            self._heeded[key] = response.correction
            if len(self._heeded) > MAX_HEEDED:
                del self._heeded[next(iter(self._heeded))]
            if response.heeded is None:
                response.heeded = turn
        return _outcome(response, outcome, turn)


def _is_same(cause: Cause, exchange: Exchange) -> bool:
    """Say whether a call is what the correction was about: by its error, its question or answer."""
    if cause.signature is not None:
        return exchange.signature == cause.signature
    asked = cause.identity is not None and cause.identity == exchange.identity
    if asked or _is_asked(exchange, cause.tool, cause.arguments):
        return None in {cause.digest, exchange.digest} or cause.digest == exchange.digest
    if cause.digest is None or exchange.identity is None:
        return False
    return cause.digest == exchange.digest and cause.tool == exchange.tool


def _outcome(response: _Response, outcome: CorrectionOutcome, turn: int) -> Outcome:
    heeded = response.heeded if outcome is CorrectionOutcome.HEEDED else None
    return Outcome(
        correction=response.correction,
        outcome=outcome,
        turn=turn,
        turns_to_heed=None if heeded is None else heeded - response.turn + 1,
        response=_told(response, outcome),
    )


def _told(response: _Response, outcome: CorrectionOutcome) -> str:
    """Say in a sentence what the next turns did; names of tools alone, no content."""
    others = ", ".join(response.others) or "nothing else"
    if outcome is CorrectionOutcome.IGNORED and response.repeats:
        tool = shortened(response.cause.tool or "", 60)
        what = f"{tool} brought the same again" if tool else "the same came again"
        return f"{what} from turn {response.turn} on"
    if outcome is CorrectionOutcome.HEEDED:
        return f"turned to {others} in turn {response.heeded}"
    return f"called {others} in {response.calls} calls from turn {response.turn} on"
