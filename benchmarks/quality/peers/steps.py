"""A recorded run as a guard in the agent's own loop sees it: calls, their results, messages."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool is about to be called."""

    index: int
    """Of the event in the recording: where something said now stands."""
    agent: str | None
    turn: int
    tool: str
    args: Mapping[str, Any]
    """Empty where they were not captured."""
    thought: str
    """What the model said in the same turn before it called."""
    seconds: float | None
    """On the clock of the run; `None` where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A call has ended. One whose result was never recorded ends at once, with an empty one."""

    index: int
    call: Call
    agent: str | None
    text: str
    failed: bool | None
    """Whether the call failed; `None` where the recording does not say."""
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The user spoke, or the model did without calling a tool in the same turn."""

    index: int
    agent: str | None
    text: str
    is_from_user: bool


Step = Call | Result | Message


def steps_of(events: Sequence[Event]) -> list[Step]:
    """Return the steps of a recorded run, in order.

    Args:
        events: Observation lines.
    """
    speaking = {(e.get("agent"), e.get("turn")) for e in events if e["kind"] == "tool_call"}
    closing = _results(events)
    steps: list[Step] = []
    thoughts: dict[tuple[Any, Any], list[str]] = {}
    calls: dict[int, Call] = {}
    for index, event in enumerate(events):
        who = (event.get("agent"), event.get("turn"))
        kind = event["kind"]
        if kind == "tool_call":
            calls[index] = _call(index, event, "\n".join(thoughts.get(who, ())))
            steps.append(calls[index])
            if index not in closing.values():
                steps.append(_result(index, calls[index], {}))
        elif kind == "tool_result":
            if index in closing:
                steps.append(_result(index, calls[closing[index]], event))
        elif kind == "assistant_text" and who in speaking:
            thoughts.setdefault(who, []).append(_text(event))
        else:
            is_from_user = kind == "user_text"
            steps.append(
                Message(
                    index=index,
                    agent=event.get("agent"),
                    text=_text(event),
                    is_from_user=is_from_user,
                )
            )
    return steps


def _results(events: Sequence[Event]) -> dict[int, int]:
    """Return which call each result closes: by its id, else the oldest that is open by name."""
    by_id: dict[Any, int] = {}
    by_name: dict[Any, deque[int]] = {}
    closing: dict[int, int] = {}
    for index, event in enumerate(events):
        identifier, name = event.get("call_id"), (event.get("agent"), event.get("name"))
        if event["kind"] == "tool_call" and identifier is not None:
            by_id[identifier] = index
        elif event["kind"] == "tool_call":
            by_name.setdefault(name, deque()).append(index)
        elif event["kind"] == "tool_result":
            if identifier is not None and identifier in by_id:
                closing[index] = by_id.pop(identifier)
            elif by_name.get(name):
                closing[index] = by_name[name].popleft()
    return closing


def _call(index: int, event: Event, thought: str) -> Call:
    args = event.get("args")
    return Call(
        index=index,
        agent=event.get("agent"),
        turn=event.get("turn") or 0,
        tool=str(event.get("name") or ""),
        args=args if isinstance(args, Mapping) else {} if args is None else {"input": args},
        thought=thought,
        seconds=_seconds(event),
    )


def _result(index: int, call: Call, event: Event) -> Result:
    error = event.get("error")
    return Result(
        index=index,
        agent=call.agent,
        call=call,
        text=_text(event),
        failed=error if isinstance(error, bool) else None,
        seconds=_seconds(event),
    )


def _text(event: Event) -> str:
    text = event.get("result")
    return "" if text is None else str(text)


def _seconds(event: Event) -> float | None:
    at = event.get("t")
    if isinstance(at, str):
        try:
            return datetime.fromisoformat(at).timestamp()
        except ValueError:
            return None
    return at if isinstance(at, int | float) else None
