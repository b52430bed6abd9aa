"""Runs written down as observation lines, as observations.

One run is one JSON object, `{"id": …, "events": […]}`; the events' keys are `turn`, `kind`
(`assistant_text`, `tool_call`, `tool_result`, `user_text`), `name`, `args`, `result`, `error`,
`call_id`, `agent`, `run` and `t`.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from otel_watchdog.errors import InputError
from otel_watchdog.model import (
    ModelTurn,
    Observation,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.reading.content import known, text_of
from otel_watchdog.reading.outcomes import outcome_of

MAX_TURN: Final = 2**53


class RecordedRun(NamedTuple):
    """One object of an observation-lines file."""

    id: str | None
    """Its own id; `None` where it has none."""
    events: Sequence[Mapping[str, Any]]
    line: int
    """The line it begins on where a file holds one a line, counted from 1."""


def run_of(document: Mapping[str, Any], line: int) -> RecordedRun:
    """Return an object's run.

    Raises:
        InputError: It has the wrong shape.
    """
    events = document["events"]
    if not isinstance(events, list):
        raise InputError(f"events: must be a list of objects, got {type(events).__name__}")
    for index, event in enumerate(events):
        if not isinstance(event, dict):
            raise InputError(f"events[{index}]: must be an object, got {type(event).__name__}")
    name = document.get("id")
    if isinstance(name, bool) or not isinstance(name, str | int | None):
        raise InputError(f"id: must be text, got {type(name).__name__}")
    run = RecordedRun(None if name is None else str(name), events, line)
    for _ in observations_of(run, ""):
        pass  # a run is judged only if all of it can be
    return run


def observations_of(run: RecordedRun, key: str) -> Iterator[tuple[int, Observation]]:
    """Yield a run's observations, each with the index of the event that tells of it.

    Agents have a session each, where there are several; `run` parts a session into runs.

    Args:
        run: What was recorded.
        key: Key of its session, and the part before the agent's where there are several.

    Raises:
        InputError: An event has the wrong shape; the message names it.
    """
    events = _Events(run.events, key)
    for index, event in enumerate(run.events):
        try:
            for observation in events.read(event):
                yield index, observation
        except InputError as error:
            raise InputError(f"events[{index}].{error}") from None
    for observation in events.end():
        yield len(run.events) - 1, observation


class _Call(NamedTuple):
    name: str
    arguments: str | None
    call_id: str | None
    turn: int


class _Session:
    """One agent of a recorded run."""

    def __init__(self, key: str, agent: str | None) -> None:
        self.key = key
        self.agent = agent
        self.run: str | None = None
        self.turn = 0
        self.calls: dict[tuple[str, int], _Call] = {}
        """Those with an id, by it and their turn."""
        self.done: set[tuple[str, int]] = set()
        self.open: list[_Call] = []
        """Those without a result, oldest first."""


class _Events:
    def __init__(self, events: Sequence[Mapping[str, Any]], key: str) -> None:
        self._key = key
        names = dict.fromkeys(a for e in events if isinstance(a := e.get("agent"), str))
        self._several = len(names) > 1
        self._agent = next(iter(names), None)
        self._sessions: dict[str | None, _Session] = {}
        self._turn: int | None = None
        self._time: float | None = None
        self._readers: dict[str, Callable[[_Session, Mapping[str, Any]], Iterator[Observation]]] = {
            "assistant_text": self._read_text,
            "tool_call": self._read_call,
            "tool_result": self._read_result,
            "user_text": self._read_user,
        }

    def read(self, event: Mapping[str, Any]) -> Iterator[Observation]:
        """Yield what one event tells of."""
        kind = event.get("kind")
        reader = self._readers.get(kind) if isinstance(kind, str) else None
        if reader is None:
            allowed = ", ".join(self._readers)
            raise InputError(f"kind: must be one of {allowed}, got {_shown(kind)}")
        self._agent = _text(event, "agent") or self._agent
        self._turn = _turn(event, self._turn)
        self._time = _time(event)
        session = self._session()
        yield from self._run(session, _text(event, "run"))
        session.turn = self._turn or 0
        yield from reader(session, event)

    def end(self) -> Iterator[Observation]:
        """Yield the ends of the runs."""
        for session in self._sessions.values():
            yield self._ended(session)

    def _session(self) -> _Session:
        agent = self._agent
        session = self._sessions.get(agent)
        if session is None:
            key = f"{self._key}/{agent}" if self._several else self._key
            session = self._sessions[agent] = _Session(key, agent)
        return session

    def _run(self, session: _Session, run: str | None) -> Iterator[Observation]:
        """Tell of a run that begins, and of the one that thereby ends."""
        if session.run is not None and run in {None, session.run}:
            return
        if session.run is not None:
            yield self._ended(session)
        session.run = run or self._key
        session.calls.clear()
        session.done.clear()
        session.open.clear()
        place = self._key if self._several else None
        yield RunStarted(session.key, session.run, session.agent, 0, self._time, place)

    def _ended(self, session: _Session) -> RunEnded:
        return RunEnded(session.key, session.run or "", session.turn, time=self._time)

    def _read_text(self, session: _Session, event: Mapping[str, Any]) -> Iterator[Observation]:
        yield ModelTurn(session.key, self._started(session), self._time, _content(event))

    def _read_user(self, session: _Session, event: Mapping[str, Any]) -> Iterator[Observation]:
        yield UserMessage(session.key, session.turn, _content(event), self._time)

    def _read_call(self, session: _Session, event: Mapping[str, Any]) -> Iterator[Observation]:
        name = _text(event, "name")
        if name is None:
            raise InputError("name: must be a tool's name, got null")
        call = _Call(name, _arguments(event), _text(event, "call_id"), self._started(session))
        if call.call_id is not None:
            key = (call.call_id, call.turn)
            if session.calls.get(key) == call:
                return  # delivered twice
            session.calls[key] = call
            session.done.discard(key)
        session.open.append(call)
        yield ToolCall(session.key, call.turn, name, call.arguments, call.call_id, time=self._time)

    def _read_result(self, session: _Session, event: Mapping[str, Any]) -> Iterator[Observation]:
        name = _text(event, "name")
        call_id = _text(event, "call_id")
        call = _answered(session, call_id, name)
        if call is None:
            key = (call_id or "", session.turn)
            if key in session.done:
                return  # delivered twice
        else:
            session.open.remove(call)
            key = (call.call_id or call_id or "", call.turn)
        if key[0]:
            session.done.add(key)
        yield _result(event, session, call, call_id, name or "", self._time)

    def _started(self, session: _Session) -> int:
        """Return the turn, which has begun where the agent says or does something."""
        if not session.turn:
            session.turn = self._turn = 1
        return session.turn


def _answered(session: _Session, call_id: str | None, name: str | None) -> _Call | None:
    """Find the call that a result belongs to: by id, else the oldest open one of its name."""
    if call_id is not None:
        same = [call for call in session.open if call.call_id == call_id]
        if same:
            return same[-1]
    for call in session.open:
        if name in {None, call.name} and (call_id is None or call.call_id is None):
            return call
    return None


def _result(
    event: Mapping[str, Any],
    session: _Session,
    call: _Call | None,
    call_id: str | None,
    name: str,
    time: float | None,
) -> ToolResult:
    failed = event.get("error")
    if not isinstance(failed, bool | None):
        raise InputError(f"error: must be true, false or null, got {_shown(failed)}")
    text = _content(event)
    outcome, error = outcome_of(text, failed=failed)
    if outcome is ToolOutcome.ERROR and error is None:
        error = text
    return ToolResult(
        session.key,
        call.turn if call else session.turn,
        call.name if call else name,
        outcome,
        text,
        error,
        call_id or (call.call_id if call else None),
        time,
    )


def _content(event: Mapping[str, Any]) -> str | None:
    value = event.get("result")
    return known(value) if isinstance(value, str) else text_of(value)


def _arguments(event: Mapping[str, Any]) -> str | None:
    value = event.get("args")
    if value is None or isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        raise InputError("args: nested too deep") from None


def _text(event: Mapping[str, Any], name: str) -> str | None:
    value = event.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str | None):
        raise InputError(f"{name}: must be text, got {_shown(value)}")
    return value


def _turn(event: Mapping[str, Any], last: int | None) -> int | None:
    value = event.get("turn")
    if value is None:
        return last
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TURN:
        raise InputError(f"turn: must be a whole number from 0 on, got {_shown(value)}")
    return value


def _time(event: Mapping[str, Any]) -> float | None:
    value = event.get("t")
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            time = dt.datetime.fromisoformat(value)
            return time.replace(tzinfo=time.tzinfo or dt.UTC).timestamp()
        except (ValueError, OverflowError):
            pass
    raise InputError(f"t: must be seconds or an ISO 8601 time, got {_shown(value)}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - for a line
