"""Reads the spans that Logfire writes for openai-agents."""

from typing import ClassVar, Final

from otel_watchdog import semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import first_of, parsed, string
from otel_watchdog.reading.histories import answer_in, history_in
from otel_watchdog.reading.wrappings import answer_of, request_of
from otel_watchdog.spans import (
    Failure,
    ModelReading,
    PartReading,
    Reading,
    RunReading,
    Span,
    ToolReading,
    failure_of,
    model_reading,
    readable_error,
    tool_reading,
)

_SCOPE: Final = "logfire.openai_agents"
_TOOL: Final = "Function: {name}"
_AGENT: Final = "Agent run: {name!r}"
_MODEL_CALLS: Final = ("Responses API", "Chat completion")
_TURN: Final = "Turn {turn}"
_SESSION: Final = "group_id"


class Logfire:
    """Plain attribute names under span names that are templates.

    Who: `logfire.instrument_openai_agents()`. What Logfire adds to others' spans, such as
    pydantic-ai's, is read with those.

    Logfire scrubs what looks like a credential: those values are unknown. openai-agents redacts
    errors by default.
    """

    name: ClassVar[str] = "logfire"
    scopes: ClassVar[tuple[str, ...]] = (_SCOPE,)
    prefixes: ClassVar[tuple[str, ...]] = ()
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true",
            "arguments and results",
        ),
        Switch(
            "logfire.configure(scrubbing=False)",
            "what looks like a credential and is not",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        if not span.scope.startswith(_SCOPE):
            return None
        attributes = span.attributes
        if span.name == _TOOL:
            return _read_tool(span)
        if span.name.startswith(_MODEL_CALLS):
            return _read_model(span)
        if span.name == _AGENT:
            return RunReading(string(attributes, "name"), error=_failure(span).text)
        return PartReading(
            agent=string(attributes, "agent_name"),
            session=string(attributes, _SESSION),
            step=span.name.startswith(_TURN),
        )


def _read_tool(span: Span) -> ToolReading | PartReading:
    attributes = span.attributes
    name = string(attributes, "name")
    if name is None:
        return PartReading()
    return tool_reading(
        span,
        name,
        request_of(attributes.get("input")),
        answer_of(attributes.get("output")),
        failure=_failure(span),
    )


def _read_model(span: Span) -> ModelReading:
    attributes = span.attributes
    return model_reading(
        span,
        output=answer_in(first_of(attributes, "response", "output")),
        history=history_in(first_of(attributes, "raw_input", "input")),
        agent=string(attributes, semconv.GEN_AI_AGENT_NAME),
    )


def _failure(span: Span) -> Failure:
    """Return the failure with the text that openai-agents gave it."""
    failure = failure_of(span)
    told = span.attributes.get("error")
    error = parsed(told) if isinstance(told, str) else told
    if not isinstance(error, dict):
        return failure
    data = error.get("data")
    text = data.get("error") if isinstance(data, dict) else error.get("message")
    text = readable_error(text) if isinstance(text, str) else None
    return Failure(failed=True, text=text, source=failure.source or "error")
