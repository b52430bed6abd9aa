"""Reads the spans of Vercel's AI SDK up to version 6, and of version 7 in its legacy mode."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations as names
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import attribute_text, first_of, parsed, string
from otel_watchdog.reading.histories import history_in
from otel_watchdog.reading.messages import Message, call_of
from otel_watchdog.reading.wrappings import answer_of, request_of
from otel_watchdog.spans import (
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

_MODEL_CALLS: Final = (".doGenerate", ".doStream")
_SESSIONS: Final = tuple(
    f"{names.AI_METADATA}.{key}"
    for key in ("sessionId", "session_id", "conversationId", "chatId", "threadId", "thread_id")
)


class VercelAI:
    """The `ai.*` attributes.

    Who: `experimental_telemetry` of the npm package `ai` 3 to 6. Version 7 with `@ai-sdk/otel`
    follows the GenAI conventions and is read there.

    The function's id is the agent's name; which of its free metadata is the session is guessed by
    the usual names.
    """

    name: ClassVar[str] = "vercel_ai"
    scopes: ClassVar[tuple[str, ...]] = ("ai",)
    prefixes: ClassVar[tuple[str, ...]] = (names.AI_OPERATION_ID,)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "experimental_telemetry: { recordInputs: true, recordOutputs: true }",
            "arguments, results and messages",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        operation = string(attributes, names.AI_OPERATION_ID)
        if operation is None:
            return None
        agent = string(attributes, names.AI_FUNCTION_ID)
        session = string(attributes, *_SESSIONS)
        if operation == "ai.toolCall":
            return _read_tool(span, agent, session)
        if operation.endswith(_MODEL_CALLS):
            return _read_model(span, agent, session)
        if operation.startswith("ai.embed"):
            return PartReading(agent, session)
        return RunReading(agent, session, failure_of(span).text)


def _read_tool(span: Span, agent: str | None, session: str | None) -> ToolReading:
    attributes = span.attributes
    return tool_reading(
        span,
        string(attributes, names.AI_TOOL_NAME) or span.name,
        request_of(first_of(attributes, names.AI_TOOL_ARGS, names.AI_TOOL_INPUT)),
        answer_of(first_of(attributes, names.AI_TOOL_RESULT, names.AI_TOOL_OUTPUT)),
        call_id=attributes.get(names.AI_TOOL_ID),
        agent=agent,
        session=session,
    )


def _read_model(span: Span, agent: str | None, session: str | None) -> ModelReading:
    attributes = span.attributes
    return model_reading(
        span,
        output=_answer(attributes),
        history=history_in(attributes.get(names.AI_PROMPT_MESSAGES)),
        agent=agent,
        session=session,
    )


def _answer(attributes: Mapping[str, Any]) -> list[Message] | None:
    text = attribute_text(attributes.get(names.AI_RESPONSE_TEXT))
    asked = attributes.get(names.AI_RESPONSE_TOOL_CALLS)
    calls = parsed(asked) if isinstance(asked, str) else asked
    if text is None and not isinstance(calls, list):
        return None
    message = Message(role="assistant", text=text)
    message.reasoning = attribute_text(attributes.get(names.AI_RESPONSE_REASONING))
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            message.calls.append(call_of(call))
    return [message]
