"""Reads the spans of Strands Agents, whose content stands in span events."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations, semconv
from otel_watchdog.reading.content import parsed, string
from otel_watchdog.reading.histories import EventHistory, History, answer_in, history_in
from otel_watchdog.reading.messages import CallPart, Message, ResultPart, message_of
from otel_watchdog.reading.wrappings import Answer, Request, answer_of, request_of
from otel_watchdog.spans import (
    LAST_EVENTS,
    ModelReading,
    PartReading,
    Reading,
    RunReading,
    Span,
    ToolReading,
    failure_of,
    model_reading,
    tool_reading,
)

_ROLES: Final = {
    instrumentations.GEN_AI_USER_EVENT: "user",
    instrumentations.GEN_AI_ASSISTANT_EVENT: "assistant",
    instrumentations.GEN_AI_TOOL_EVENT: "tool",
}
_SESSIONS: Final = (semconv.GEN_AI_CONVERSATION_ID, semconv.SESSION_ID)
_SCOPE: Final = "strands."
_TOOL: Final = "execute_tool "
_AGENT: Final = "invoke_agent "


class Strands:
    """Span events `gen_ai.*.message` and `gen_ai.choice`, or one of operation details.

    Who: `strands-agents`, with either of its schemas.

    Until version 1.33 a failed tool had status OK and only `gen_ai.tool.status` tells of it. Every
    span repeats the whole conversation in events: they are read from the end.
    """

    name: ClassVar[str] = "strands"
    scopes: ClassVar[tuple[str, ...]] = (_SCOPE,)
    prefixes: ClassVar[tuple[str, ...]] = ()

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        if semconv.OPENINFERENCE_SPAN_KIND in attributes or not span.scope.startswith(_SCOPE):
            return None  # the first: a processor has rewritten it
        operation = attributes.get(semconv.GEN_AI_OPERATION_NAME)
        session = string(attributes, *_SESSIONS)
        if operation == "execute_tool" or (operation is None and span.name.startswith(_TOOL)):
            return _read_tool(span, session)
        if operation == "chat":
            return _read_model(span, session)
        if operation == "invoke_agent" or (operation is None and span.name.startswith(_AGENT)):
            agent = string(attributes, semconv.GEN_AI_AGENT_NAME)
            return RunReading(
                agent or span.name.removeprefix(_AGENT), session, failure_of(span).text
            )
        return PartReading(session=session)


def _read_tool(span: Span, session: str | None) -> ToolReading:
    attributes = span.attributes
    asked, answered = _content(span)
    request = request_of(attributes.get(semconv.GEN_AI_TOOL_CALL_ARGUMENTS))
    if request.arguments is None and asked is not None:
        request = Request(asked.arguments)
    return tool_reading(
        span,
        string(attributes, semconv.GEN_AI_TOOL_NAME) or span.name.removeprefix(_TOOL),
        request,
        Answer(answered.content, failed=answered.is_error) if answered else Answer(),
        call_id=attributes.get(semconv.GEN_AI_TOOL_CALL_ID),
        session=session,
    )


def _content(span: Span) -> tuple[CallPart | None, ResultPart | None]:
    """Return the call and the result that a tool span's events tell of."""
    asked: CallPart | None = None
    answered: ResultPart | None = None
    for name, attributes in span.events:
        if name == instrumentations.GEN_AI_TOOL_EVENT:
            asked = CallPart(name="", arguments=request_of(attributes.get("content")).arguments)
        elif name == instrumentations.GEN_AI_CHOICE_EVENT:
            answer = answer_of(attributes.get("message"))
            answered = ResultPart(content=answer.text, is_error=answer.failed)
        elif name == instrumentations.GEN_AI_DETAILS_EVENT:
            for message in answer_in(attributes.get(semconv.GEN_AI_INPUT_MESSAGES)) or ():
                asked = next(iter(message.calls), asked)
            for message in answer_in(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES)) or ():
                answered = next(iter(message.results), answered)
    return asked, answered


def _read_model(span: Span, session: str | None) -> ModelReading:
    output: list[Message] | None = None
    history: History = EventHistory(span.events, _message)
    for name, attributes in span.events[-LAST_EVENTS:]:
        if name == instrumentations.GEN_AI_CHOICE_EVENT:
            output = [_blocks("assistant", attributes.get("message"))]
        elif name == instrumentations.GEN_AI_DETAILS_EVENT:
            output = answer_in(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES)) or output
            history = history_in(attributes.get(semconv.GEN_AI_INPUT_MESSAGES)) or history
    return model_reading(span, output=output, history=history, session=session)


def _message(name: str, attributes: Mapping[str, Any]) -> Message | None:
    role = _ROLES.get(name)
    return _blocks(role, attributes.get("content")) if role is not None else None


def _blocks(role: str, content: object) -> Message:
    blocks = parsed(content) if isinstance(content, str) else content
    return message_of({"role": role, "content": content if blocks is None else blocks})
