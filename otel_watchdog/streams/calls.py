"""The tool calls of one run, kept as long as another source may tell of them again.

A tool call may stand in the model's answer, on its own span, and in the next model call's input.
Those are matched by call id; without one, by name and arguments among the latest that wait.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from otel_watchdog.evidence.recent import add
from otel_watchdog.progress import canonical
from otel_watchdog.reading.messages import CallPart, ResultPart
from otel_watchdog.spans import ToolReading, merge

MAX_CALLS: Final = 256
"""Calls of a run that are remembered, to tell a late or doubled one from a new one."""


class Call:
    """A tool call that was told of."""

    __slots__ = ("arguments", "asked", "call_id", "done", "late", "name", "turn")

    def __init__(self, name: str, arguments: str | None, call_id: str | None, turn: int) -> None:
        self.name = name
        self.arguments = arguments
        self.call_id = call_id
        self.turn = turn
        self.asked = False
        """The model's answer told of it."""
        self.done = False
        """Its result was told."""
        self.late: tuple[ToolReading, float | None] | None = None
        """Its span ended, and when, but did not say how: the next model call's input may."""


class Calls:
    """Calls by id, those that wait for a result, and those that no model's answer told of yet."""

    __slots__ = ("_by_id", "_unasked", "_waiting")

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, Call] = OrderedDict()
        self._waiting: list[Call] = []
        """Oldest first."""
        self._unasked: list[Call] = []
        """Told of by their spans in the current turn: the model's answer may follow."""

    def ask(self, call: Call) -> None:
        """Keep a call that the model asks for; it waits for its result."""
        call.asked = True
        self._waiting.append(call)
        if len(self._waiting) > MAX_CALLS:
            self._waiting.pop(0).done = True
        if call.call_id:
            self._name(call, call.call_id)

    def add(self, call: Call) -> None:
        """Keep a call that only its own span tells of; it does not wait: the span ended."""
        add(self._unasked, call, MAX_CALLS)
        if call.call_id:
            self._name(call, call.call_id)

    def finish(self, call: Call) -> None:
        """Wait no more for a call that the model asked for."""
        if call in self._waiting:
            self._waiting.remove(call)

    def begin_turn(self) -> None:
        """Forget which calls the answer of the turn before could still tell of."""
        if self._unasked:
            self._unasked.clear()

    def is_told(self, part: CallPart) -> bool:
        """Say whether a call that the model asks for was told of before."""
        if part.call_id and part.call_id in self._by_id:
            return True
        same = [
            call
            for call in self._unasked
            if call.name == part.name and not (part.call_id and call.call_id)
        ]
        found = _by_arguments(same, part.arguments) if same else None
        if found is None:
            return False
        self._unasked.remove(found)
        if part.call_id:
            self._name(found, part.call_id)
        return True

    def find(self, reading: ToolReading) -> Call | None:
        """Find the call that a tool span is about."""
        call_id = reading.call_id
        if call_id:
            known = self._by_id.get(call_id)
            if known is not None:
                return known
        if not self._waiting:
            return None
        same = [
            call
            for call in self._waiting
            if call.name == reading.name
            and call.late is None
            and (call_id is None or call.call_id is None)
        ]
        if not same:
            return None
        found = _by_arguments(same, reading.arguments) or same[0]
        if call_id:
            self._name(found, call_id)
        return found

    def answered(self, part: ResultPart) -> Call | None:
        """Find the call that a result in a model's input is about."""
        if part.call_id:
            known = self._by_id.get(part.call_id)
            if known is not None:
                return known
        waiting = [c for c in self._waiting if part.call_id is None or c.call_id is None]
        named = [call for call in waiting if call.name == part.name]
        return next(iter(named or (() if part.name else waiting)), None)

    def answered_in_order(self, parts: Sequence[ResultPart], turn: int) -> Sequence[Call]:
        """Find the calls that results are about whose ids nobody knows.

        OpenAI's Responses API has two ids for a call, and some record one with the call and the
        other with its result. Only where a turn's waiting calls are as many as such results are
        they matched, by order.
        """
        waiting = [call for call in self._waiting if call.turn == turn]
        fits = len(waiting) == len(parts) and all(
            part.name in ("", call.name) for part, call in zip(parts, waiting, strict=True)
        )
        return waiting if fits else ()

    def _name(self, call: Call, call_id: str) -> None:
        call.call_id = call.call_id or call_id
        self._by_id[call_id] = call
        if len(self._by_id) > MAX_CALLS:
            self._by_id.popitem(last=False)


class HeldCalls:
    """Calls of two sources, none of which says everything; told once both have, in order."""

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: list[tuple[Call, ToolReading, float | None]] = []

    def take(self, call: Call, reading: ToolReading, time: float | None) -> bool:
        """Keep a call, or what its other source says of it; false if it need not wait."""
        if call.asked or call.done:
            return False
        for held, known, _ in self._calls:
            if held is call or (reading.call_id is not None and held.call_id == reading.call_id):
                merge(known, reading)
                known.partial = False
                return True
        self._calls.append((call, reading, time))
        return True

    def release(
        self, *, all_of_them: bool = False
    ) -> Iterator[tuple[Call, ToolReading, float | None]]:
        """Yield calls that need not wait any more, the oldest first."""
        while self._calls and (
            all_of_them or not self._calls[0][1].partial or len(self._calls) > MAX_CALLS
        ):
            yield self._calls.pop(0)


def _by_arguments(calls: Sequence[Call], arguments: str | None) -> Call | None:
    """Choose among calls of one tool: the first of the latest turn that has these arguments.

    Where arguments are not known, or are written in another way, it is the first of that turn.
    """
    latest = [call for call in calls if call.turn == calls[-1].turn]
    if len(latest) == 1 or arguments is None:
        return latest[0]
    wanted = canonical(arguments)[1]
    for call in latest:
        if call.arguments is not None and canonical(call.arguments)[1] == wanted:
            return call
    for call in latest:
        if call.arguments is not None and _only_value(call.arguments) == wanted:
            return call
    return latest[0]


def _only_value(arguments: str) -> str | None:
    """Return the value of an only argument as JSON: some record nothing else."""
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or len(value) != 1:
        return None
    return orjson.dumps(next(iter(value.values()))).decode()
