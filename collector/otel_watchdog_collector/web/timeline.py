"""A run as people read it: turn after turn, with findings and corrections where they came."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from otel_watchdog_collector.facts import Table
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.web.rows import rows

MAX_PARTS: Final = 5000
"""Rows of observations of a run that are read, the latest."""

PAGE_TURNS: Final = 50
"""Turns on one page."""

NEAR_TURNS: Final = 3
"""Turns before and after a correction that are compared."""


@dataclass(slots=True, kw_only=True, eq=False)
class Call:
    """A tool call and what came of it."""

    name: str
    arguments: str | None = None
    outcome: str = "unknown"
    result: str | None = None
    error: str | None = None
    is_open: bool = True
    """Whether no result of it has come."""
    times: int = 1
    """How often the run made it, this time included; 0: its arguments are not known."""


class Change(NamedTuple):
    """What an agent did around a correction."""

    before: str
    after: str
    new: Sequence[str]
    """What it called after and never before, in the order in which it did."""


@dataclass(slots=True, kw_only=True)
class Correction:
    """A correction, and what changed afterwards."""

    id: str
    at: float
    fields: Mapping[str, Any]
    change: Change


@dataclass(slots=True, kw_only=True)
class Turn:
    """One turn."""

    number: int
    models: list[Mapping[str, Any]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    messages: list[str | None] = field(default_factory=list)
    """What people said after it."""
    findings: list[Mapping[str, Any]] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Timeline:
    """A run, or a stretch of it."""

    turns: list[Turn]
    total: int
    """Turns of the run that are known."""
    earlier: int | None
    """The last turn before those that are shown; `None`: there is none."""
    later: bool
    ended: Mapping[str, Any] | None
    is_cut: bool
    """Whether there is more than is read."""


def timeline(
    store: Store, tenant: str, session: str, run: str, until: int | None = None
) -> Timeline:
    """Return a run.

    Args:
        store: Where it is kept.
        tenant: Whose.
        session: Key of the session.
        run: Its id.
        until: The last turn to show; `None`: the run's last.
    """
    where = {"session": session, "run": run}
    parts = list(rows(store, Table.OBSERVATIONS, tenant, where=where, most=MAX_PARTS))
    seen = {one["n"]: one for part in reversed(parts) for one in part.fields["observations"]}
    turns: dict[int, Turn] = {}
    ended = _tell(turns, (seen[number] for number in sorted(seen)))
    own = {"session": session}
    for row in rows(store, Table.FINDINGS, tenant, where=own, most=MAX_PARTS):
        if row.fields["run"] == run:
            _turn(turns, row.fields["turn"]).findings.append(row.fields)
    for row in rows(store, Table.CORRECTIONS, tenant, where=own, most=MAX_PARTS):
        if row.fields["run"] == run:
            number = row.fields["turn"]
            change = changed(turns, number)
            made = Correction(id=row.id, at=row.at, fields=row.fields, change=change)
            _turn(turns, number).corrections.append(made)
    numbers = sorted(turns)
    shown = [number for number in numbers if until is None or number <= until]
    first = shown[-PAGE_TURNS:]
    return Timeline(
        turns=[turns[number] for number in first],
        total=len(numbers),
        earlier=shown[-PAGE_TURNS - 1] if len(shown) > PAGE_TURNS else None,
        later=len(shown) < len(numbers),
        ended=ended,
        is_cut=len(parts) == MAX_PARTS,
    )


def changed(turns: Mapping[int, Turn], number: int) -> Change:
    """Return what an agent did before and after the correction of a turn."""
    before = _calls(turns, range(number - NEAR_TURNS + 1, number + 1))
    after = _calls(turns, range(number + 1, number + 1 + NEAR_TURNS))
    known = {_shown(call) for one, turn in turns.items() if one <= number for call in turn.calls}
    new = [shown for shown in dict.fromkeys(map(_shown, after)) if shown not in known]
    return Change(_summary(before), _summary(after), new)


def _tell(turns: dict[int, Turn], seen: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Sort observations into turns; return the one that ended the run, if it did."""
    ended = None
    waiting: list[Call] = []
    by_id: dict[str, Call] = {}
    times: Counter[tuple[str, str]] = Counter()
    for one in seen:
        kind = one["kind"]
        if kind == "run_ended":
            ended = one
        elif kind == "model_turn":
            _turn(turns, one["turn"]).models.append(one)
        elif kind == "user_message":
            _turn(turns, one["turn"]).messages.append(one.get("text"))
        elif kind == "tool_call":
            call = Call(name=one["name"], arguments=one.get("arguments"))
            key = (call.name, call.arguments or "")
            times[key] += call.arguments is not None
            call.times = times[key]
            _turn(turns, one["turn"]).calls.append(call)
            waiting.append(call)
            if one.get("call_id"):
                by_id[one["call_id"]] = call
        elif kind == "tool_result":
            _answer(turns, one, waiting, by_id)
    return ended


def _answer(
    turns: dict[int, Turn], one: Mapping[str, Any], waiting: list[Call], by_id: dict[str, Call]
) -> None:
    """Put a result to its call; one without is shown all the same."""
    call = by_id.pop(one.get("call_id") or "", None)
    if call is None or call.name != one["name"] or not call.is_open:
        call = next((own for own in waiting if own.name == one["name"]), None)
    if call is None:
        call = Call(name=one["name"], times=0)
        _turn(turns, one["turn"]).calls.append(call)
    if call in waiting:
        waiting.remove(call)
    call.is_open = False
    call.outcome, call.result, call.error = one["outcome"], one.get("result"), one.get("error")


def _turn(turns: dict[int, Turn], number: int) -> Turn:
    return turns.setdefault(number, Turn(number=number))


def _calls(turns: Mapping[int, Turn], numbers: Iterable[int]) -> list[Call]:
    return [call for number in numbers if number in turns for call in turns[number].calls]


def _shown(call: Call) -> str:
    return f"{call.name} {call.arguments}" if call.arguments is not None else call.name


def _summary(calls: Sequence[Call]) -> str:
    """Return how many calls there were, and how many different ones.

    >>> _summary([Call(name="ls", arguments="{}"), Call(name="ls", arguments="{}")])
    '2 calls, 1 different: 2 ls'
    """
    if not calls:
        return "no tool call"
    names = Counter(call.name for call in calls)
    told = ", ".join(f"{many} {name}" for name, many in names.most_common(5))
    different = len({_shown(call) for call in calls})
    calls_word = "call" if len(calls) == 1 else "calls"
    return f"{len(calls)} {calls_word}, {different} different: {told}"
