"""Reads recordings, and gathers the figures of a report from them."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from otel_watchdog import recordings, replay, semconv
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.errors import InputError
from otel_watchdog.evidence.effects import doing_of
from otel_watchdog.evidence.exchanges import WRITE
from otel_watchdog.fleet_report.beside import Beside, look
from otel_watchdog.fleet_report.facts import AgentFacts, Report
from otel_watchdog.fleet_report.prices import Prices
from otel_watchdog.model import (
    ModelTurn,
    Observation,
    RunStarted,
    ToolOutcome,
    ToolResult,
)
from otel_watchdog.recordings.source import STANDARD_INPUT
from otel_watchdog.spans import RecordedSpan

_NOBODY = "(no name)"


class _Given(NamedTuple):
    """A correction, recorded or replayed."""

    session: str
    agent: str | None
    tier: int
    detector: str
    turn: int
    max_turns: int | None
    time: float | None
    category: str | None


def gather(
    files: Iterable[str | Path | BinaryIO],
    config: WatchdogConfig | None = None,
    prices: Prices | None = None,
) -> Report:
    """Return the report of recordings.

    Args:
        files: As for `replay.read`; `-` is standard input. What cannot be read stands in the
            report's errors.
        config: How those without corrections of ours are judged; default: from the environment.
        prices: What tokens cost, where spans do not say what a call did; default: not known.
    """
    config, prices = config or WatchdogConfig.load(), prices or Prices()
    agents: list[AgentFacts] = []
    errors: list[str] = []
    would_be = checks = 0
    checks_cost = 0.0
    for file in files:
        try:
            content = _whole(file)
            with recordings.open_source(_again(content)) as source:
                beside = look(recordings.read(source))
            checks += beside.checks
            checks_cost += beside.checks_cost
            for run in replay.read(_again(content), config=config):
                errors += [f"{run.id}: {error}" for error in run.errors]
                agents += _Reader(run, beside, prices).agents()
                would_be += not beside.given
        except InputError as error:
            errors.append(str(error))
    return Report(
        agents=agents,
        would_be=would_be,
        errors=errors,
        checks=checks,
        checks_cost=checks_cost,
    )


def _whole(file: str | Path | BinaryIO) -> str | Path | tuple[str, bytes]:
    """Return what can be read twice."""
    if isinstance(file, str | Path) and str(file) != STANDARD_INPUT:
        return file
    with recordings.open_source(file) as source:
        content = source.bytes.read()
        source.check()
        return source.name, content


def _again(content: str | Path | tuple[str, bytes]) -> str | Path | BinaryIO:
    if not isinstance(content, tuple):
        return content
    stream = io.BytesIO(content[1])
    stream.name = content[0]
    return stream


class _Reader:
    """Gathers the figures of one recording."""

    def __init__(self, run: replay.ReplayedRun, beside: Beside, prices: Prices) -> None:
        self._run = run
        self._prices = prices
        self._sessions = {
            one.id: AgentFacts(session=one.id, agent=one.agent or _NOBODY, turns=one.turns)
            for one in run.sessions
        }
        self._given: list[_Given] = []
        if beside.given:
            for span in beside.given:
                self._take(span)
        else:
            self._replay()

    def agents(self) -> list[AgentFacts]:
        """Return the figures by session."""
        for given in sorted(self._given, key=lambda one: one.time or 0.0):
            facts = self._facts(given.session, given.agent)
            facts.tiers.append(given.tier)
            facts.detectors.append(given.detector)
            facts.category = facts.category or given.category
        mine: dict[str, list[_Given]] = {}
        for given in self._given:
            mine.setdefault(self._facts(given.session, given.agent).session, []).append(given)
        for seen in self._run.observations:
            given_ = mine.get(seen.session, [])
            self._count(self._sessions[seen.session], seen.observation, given_)
        return list(self._sessions.values())

    def _count(self, facts: AgentFacts, seen: Observation, given: list[_Given]) -> None:
        if seen.time is not None:
            facts.started = seen.time if facts.started is None else min(facts.started, seen.time)
            facts.ended = max(facts.ended or seen.time, seen.time)
        if isinstance(seen, RunStarted):
            facts.ended_by_cap = False
        after = bool(given) and seen.turn > min(one.turn for one in given)
        if isinstance(seen, ModelTurn):
            tokens = (seen.input_tokens or 0) + (seen.output_tokens or 0)
            facts.tokens += tokens
            facts.tokens_after += tokens if after else 0
            facts.turns_after += after
            cost = seen.cost_usd
            if cost is None:
                cost = self._prices.cost(seen.model, seen.input_tokens, seen.output_tokens)
            facts.spend(cost, after=after)
            caps = [one.max_turns for one in given if one.max_turns is not None]
            facts.ended_by_cap = any(seen.turn >= cap for cap in caps)
        elif isinstance(seen, ToolResult) and seen.outcome is ToolOutcome.OK:
            facts.deliverables += doing_of(seen.name, None).effect is WRITE

    def _facts(self, session: str, agent: str | None) -> AgentFacts:
        """Find a session by its key, which may have its agent's name after the conversation's."""
        for key in (session, session.rpartition("/")[0]):
            if key in self._sessions:
                return self._sessions[key]
        for facts in self._sessions.values():
            if agent is not None and facts.agent == agent:
                return facts
        if len(self._sessions) == 1:
            return next(iter(self._sessions.values()))
        return self._sessions.setdefault(
            session, AgentFacts(session=session, agent=agent or _NOBODY)
        )

    def _take(self, span: RecordedSpan) -> None:
        at: dict[str, Any] = dict(span.attributes)
        session = str(at.get(semconv.WATCHDOG_SESSION, ""))
        agent = at.get(semconv.GEN_AI_AGENT_NAME)
        if semconv.WATCHDOG_OUTCOME in at:
            facts = self._facts(session, agent)
            facts.outcomes.append(str(at[semconv.WATCHDOG_OUTCOME]))
            turns = at.get(semconv.WATCHDOG_TURNS_TO_HEED)
            facts.turns_to_heed += [int(turns)] if turns is not None else []
            return
        cap = at.get(semconv.WATCHDOG_MAX_TURNS)
        self._given.append(
            _Given(
                session,
                agent,
                int(at.get(semconv.WATCHDOG_TIER, 1)),
                str(at.get(semconv.WATCHDOG_DETECTOR_NAME, "")),
                int(at.get(semconv.WATCHDOG_TURN, 0)),
                int(cap) if cap is not None else None,
                span.start,
                at.get(semconv.WATCHDOG_CATEGORY),
            )
        )

    def _replay(self) -> None:
        for number, given in enumerate(self._run.corrections):
            told = given.correction
            facts = (int(told.tier), told.finding.detector, told.turn, told.max_turns)
            place = (float(number), told.category)
            self._given.append(_Given(given.session, told.agent, *facts, *place))
        for concluded in self._run.outcomes:
            facts_ = self._facts(concluded.session, None)
            facts_.outcomes.append(concluded.outcome.outcome.value)
            if concluded.outcome.turns_to_heed is not None:
                facts_.turns_to_heed.append(concluded.outcome.turns_to_heed)
