"""Reads the spans of Google's Gemini CLI."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations as names, semconv
from otel_watchdog.reading.content import parsed, string, text_of
from otel_watchdog.reading.histories import answer_in, history_in
from otel_watchdog.reading.wrappings import Answer, Request
from otel_watchdog.spans import (
    PartReading,
    Reading,
    Span,
    ToolReading,
    model_reading,
    tool_reading,
)

_SCOPE: Final = "gemini-cli"
_VOLATILE = re.compile(r"^Process Group PGID: \d+\n?", re.MULTILINE)
"""A line that differs each time a command runs."""


class GeminiCLI:
    """Spans `llm_call` and `tool_call`, each turn in traces of its own.

    Who: Gemini CLI with `telemetry` and `traces` on. Everything is joined by the conversation's
    id. A command that failed is a success with `Exit Code: N` in its text.
    """

    name: ClassVar[str] = "gemini_cli"
    scopes: ClassVar[tuple[str, ...]] = (_SCOPE,)
    prefixes: ClassVar[tuple[str, ...]] = ()

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        if not span.scope.startswith(_SCOPE):
            return None
        attributes = span.attributes
        agent = string(attributes, semconv.GEN_AI_AGENT_NAME)
        session = string(attributes, semconv.GEN_AI_CONVERSATION_ID)
        operation = attributes.get(semconv.GEN_AI_OPERATION_NAME) or span.name
        if operation == "tool_call":
            return _read_tool(span, agent, session)
        if operation == "llm_call":
            return model_reading(
                span,
                output=answer_in(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES)),
                history=history_in(attributes.get(semconv.GEN_AI_INPUT_MESSAGES)),
                agent=agent,
                session=session,
            )
        return PartReading(agent, session)


def _read_tool(span: Span, agent: str | None, session: str | None) -> ToolReading | PartReading:
    attributes = span.attributes
    name = string(attributes, semconv.GEN_AI_TOOL_NAME)
    if name is None:
        return PartReading(agent, session)
    asked = _object(attributes.get(semconv.GEN_AI_INPUT_MESSAGES))
    arguments = asked.get("args") if asked is not None else None
    return tool_reading(
        span,
        name,
        Request(text_of(arguments)),
        _answer(_object(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES))),
        call_id=attributes.get(names.GEMINI_CLI_CALL_ID),
        agent=agent,
        session=session,
    )


def _answer(told: Mapping[str, Any] | None) -> Answer:
    """Return what the model is given of a tool's answer."""
    if told is None:
        return Answer()
    failed = True if told.get("status") == "error" else None
    response = told.get("response")
    parts = response.get("responseParts") if isinstance(response, Mapping) else None
    texts: list[str] = []
    for part in parts if isinstance(parts, list) else ():
        inner = part.get("functionResponse") if isinstance(part, Mapping) else None
        given = inner.get("response") if isinstance(inner, Mapping) else None
        if isinstance(given, Mapping) and len(given) == 1:
            failed = failed or "error" in given or None
            given = next(iter(given.values()))
        text = text_of(given)
        if text is not None:
            texts.append(_VOLATILE.sub("", text))
    return Answer("\n".join(texts) if texts else None, failed=failed)


def _object(value: object) -> Mapping[str, Any] | None:
    found = parsed(value) if isinstance(value, str) else value
    return found if isinstance(found, Mapping) else None
