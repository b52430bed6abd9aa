"""One run's stream: turns counted, and each tool call told of once, whatever its sources.

Calls are told of in the order in which they were made, results as they come.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from otel_watchdog.model import (
    MARKER,
    ModelTurn,
    Observation,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.reading.messages import CallPart, Message, ResultPart
from otel_watchdog.reading.outcomes import outcome_of
from otel_watchdog.spans import ModelReading, Span, ToolReading
from otel_watchdog.streams.calls import Call, Calls, HeldCalls

if TYPE_CHECKING:
    from otel_watchdog.reading.histories import Mark

_USERS = frozenset({"user", "human"})


class Session:
    """One agent's memory: runs of one agent in one conversation share it."""

    __slots__ = ("agent", "conversation", "key", "mark", "place", "runs", "seen")

    def __init__(self, key: str, conversation: str | None, agent: str | None, place: str) -> None:
        self.key = key
        """Unique; what observations carry."""
        self.conversation = conversation
        """Id of the conversation as the trace gives it; may become known late."""
        self.place = place
        """The conversation's id, else the trace's: other agents' sessions are there, too."""
        self.agent = agent
        """May become known late."""
        self.mark: Mark | None = None
        """How far the conversation was read."""
        self.runs = 0
        self.seen = 0.0
        """When it was last heard of, in seconds."""


class Run:
    """One prompt until control is handed back."""

    __slots__ = (
        "_group_end",
        "_held",
        "_late",
        "_logged_turns",
        "_model_turns",
        "_step",
        "calls",
        "ended",
        "key",
        "number",
        "place",
        "session",
        "started",
        "turn",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        """Of the span or trace that it is."""
        self.session: Session | None = None
        """Known once the first of its spans was read."""
        self.key = ""
        """Key of its session, once it started."""
        self.place = ""
        """What it shares with the runs of other agents at the same work, once it started."""
        self.started = False
        self.ended = False
        self.turn = 0
        self._model_turns = 0
        self._logged_turns = 0
        """Of those, how many only log records told of, before any span did."""
        self.calls = Calls()
        """Those that it may still be told of again."""
        self._late: list[Call] = []
        self._held: HeldCalls | None = None
        """Only where there are calls of two sources."""
        self._group_end = float("-inf")
        self._step: int | None = None

    @property
    def id(self) -> str:
        """Unique in its session."""
        return f"{self.number:016x}"

    def start(self, time: float | None, within: "Run | None" = None) -> list[Observation]:
        """Tell of the run's start, once.

        Args:
            time: When.
            within: The run around it, whose work it is a part of whatever it calls its own
                conversation; `None`: it is the outermost.
        """
        if self.started or self.session is None:
            return []
        self.started = True
        self.key = self.session.key
        self.place = within.place if within is not None and within.started else self.session.place
        self.session.runs += 1
        agent = self.session.agent
        return [RunStarted(self.key, self.id, agent, time=time, conversation=self.place)]

    def end(self, time: float | None, error: str | None) -> list[Observation]:
        """Tell of the run's end, once; nothing, if it never started."""
        if not self.started or self.ended:
            return []
        self.ended = True
        told = self._tell_late()
        told.append(RunEnded(session=self.key, run=self.id, turn=self.turn, error=error, time=time))
        return told

    def begin_turn(self) -> int:
        """Count a model call; return its turn."""
        self._model_turns += 1
        self.turn += 1
        self.calls.begin_turn()
        return self.turn

    def model(self, span: Span, reading: ModelReading, turn: int | None) -> list[Observation]:
        """Tell of a model call that ended.

        Args:
            span: The model span.
            reading: What was read of it.
            turn: The turn that was counted when it began; `None` if it was not seen to begin.
        """
        told = self._read_history(span, reading)
        told += self._tell_late()
        if self._logged_turns:
            self._logged_turns = 0  # the last of them was this one
            self._model_turns += 1
        else:
            if turn is None:
                self.begin_turn()
            told.append(self._model_turn(span, reading))
        return told + self._tell_requests(span, reading)

    def model_again(self, span: Span, reading: ModelReading) -> list[Observation]:
        """Tell what another span says of the model call that was counted last."""
        return self._read_history(span, reading) + self._tell_requests(span, reading)

    def logged_turn(self, span: Span, reading: ModelReading) -> list[Observation]:
        """Tell of a model call that a log record tells of, unless model spans tell of turns."""
        if self._model_turns > self._logged_turns:
            return []
        told = self._tell_late()
        self.begin_turn()
        self._logged_turns += 1
        told.append(self._model_turn(span, reading))
        return told

    def tool(
        self, span: Span, reading: ToolReading, call: Call | None, told: list[Observation]
    ) -> None:
        """Tell of a tool call that ended.

        A span that does not say how its call ended may stand for one whose result is shown to
        the model: that is told when the next model call ends.

        Args:
            span: The tool span.
            reading: What was read of it.
            call: What `calls.find` returned for it.
            told: Gets what is to be told.
        """
        if (reading.partial or self._held is not None) and self._hold(span, reading, call, told):
            return
        if call is None:
            call = self._add(span, reading, told)
        elif call.done:
            return
        elif reading.result is None and reading.outcome is ToolOutcome.UNKNOWN:
            if call.late is None:
                call.late = (reading, span.end)
                self._late.append(call)
            return
        self._tell_result(call, reading, span.end, told)

    def _hold(
        self, span: Span, reading: ToolReading, call: Call | None, told: list[Observation]
    ) -> bool:
        """Keep a call until its other source has told too; false if it need not wait."""
        if self._held is None:
            self._held = HeldCalls()
        if call is None:
            call = Call(reading.name, reading.arguments, reading.call_id, self.turn)
        if not self._held.take(call, reading, span.end):
            return False
        if not self._model_turns:
            self._group_turn(span, reading.step, told)
        self._tell_held(self._held.release(), told)
        return True

    def _tell_held(
        self, calls: Iterator[tuple[Call, ToolReading, float | None]], told: list[Observation]
    ) -> None:
        for call, reading, time in calls:
            call.turn = call.turn or self.turn
            self.calls.add(call)
            told.append(
                ToolCall(self.key, call.turn, call.name, reading.arguments, call.call_id, time)
            )
            self._tell_result(call, reading, time, told)

    def _tell_result(
        self, call: Call, reading: ToolReading, time: float | None, told: list[Observation]
    ) -> None:
        call.done = True
        if call.asked:
            self.calls.finish(call)
        told.append(
            ToolResult(
                self.key,
                call.turn,
                call.name,
                reading.outcome,
                reading.result,
                reading.error,
                call.call_id,
                time,
            )
        )

    def _tell_late(self) -> list[Observation]:
        """Tell of calls that ended and whose result nobody told of."""
        told: list[Observation] = []
        for call in self._late:
            if not call.done and call.late is not None:
                self._tell_result(call, *call.late, told)
        self._late.clear()
        if self._held is not None:
            self._tell_held(self._held.release(all_of_them=True), told)
        return told

    def _read_history(self, span: Span, reading: ModelReading) -> list[Observation]:
        if reading.history is None or self.session is None:
            return []
        messages, self.session.mark = reading.history.since(self.session.mark)
        told: list[Observation] = []
        unknown: list[ResultPart] = []
        for message in messages:
            for part in message.results:
                call = self.calls.answered(part)
                if call is None:
                    unknown.append(part)
                else:
                    self._tell_answer(call, part, span.start, told)
            if message.role in _USERS and message.text and not message.text.startswith(MARKER):
                told.append(UserMessage(self.key, self.turn, message.text, span.start))
        if unknown:
            calls = self.calls.answered_in_order(unknown, self.turn)
            for call, part in zip(calls, unknown, strict=False):
                self._tell_answer(call, part, span.start, told)
        return told

    def _tell_answer(
        self, call: Call, part: ResultPart, time: float | None, told: list[Observation]
    ) -> None:
        """Tell of a result that stands in a model's input, unless it was told of."""
        if call.done:
            return
        outcome, error = outcome_of(part.content, failed=part.is_error)
        if outcome is ToolOutcome.ERROR and error is None:
            error = part.content
        answer = ToolReading(call.name, outcome=outcome, result=part.content, error=error)
        self._tell_result(call, answer, call.late[1] if call.late else time, told)

    def _model_turn(self, span: Span, reading: ModelReading) -> ModelTurn:
        output = reading.output
        return ModelTurn(
            session=self.key,
            turn=self.turn,
            time=span.end,
            text=_said(output, "text") if output is not None else None,
            reasoning=_said(output, "reasoning") if output else None,
            tool_calls=sum(len(m.calls) for m in output) if output is not None else None,
            model=reading.model,
            input_tokens=reading.input_tokens,
            output_tokens=reading.output_tokens,
            error=reading.error,
            cost_usd=reading.cost_usd,
        )

    def _tell_requests(self, span: Span, reading: ModelReading) -> list[Observation]:
        told: list[Observation] = []
        for message in reading.output or ():
            for part in message.calls:
                self._tell_request(part, span.end, told)
        return told

    def _tell_request(self, part: CallPart, time: float | None, told: list[Observation]) -> None:
        """Tell of a call that the model asks for, unless it was told of."""
        if self.calls.is_told(part):
            return
        self.calls.ask(Call(part.name, part.arguments, part.call_id, self.turn))
        told.append(ToolCall(self.key, self.turn, part.name, part.arguments, part.call_id, time))

    def _add(self, span: Span, reading: ToolReading, told: list[Observation]) -> Call:
        """Tell of a call that only its own span tells of."""
        if not self._model_turns:
            self._group_turn(span, reading.step, told)
        name, arguments, call_id, turn = reading.name, reading.arguments, reading.call_id, self.turn
        call = Call(name, arguments, call_id, turn)
        if call_id or self._model_turns:
            self.calls.add(call)
        told.append(ToolCall(self.key, turn, name, arguments, call_id, span.start))
        return call

    def _group_turn(self, span: Span, step: int | None, told: list[Observation]) -> None:
        """Count a turn for calls whose model call is not traced.

        Calls of one step share a turn; where there are no steps, calls that overlap do.
        """
        start = span.start
        end = span.end or start
        apart = self.turn == 0 or start >= self._group_end
        begins = apart if step is None else step != self._step
        self._step = step
        self._group_end = max(self._group_end, end)
        if begins:
            self.turn += 1
            told.append(ModelTurn(self.key, self.turn, start))


def _said(output: Sequence[Message], what: Literal["text", "reasoning"]) -> str:
    texts = (getattr(message, what) for message in output)
    return "\n".join(text for text in texts if text)
