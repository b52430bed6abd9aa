"""Reads the spans of Haystack's own tracing."""

from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations as names
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import parsed, string
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
    tool_reading,
)

_TOOL: Final = "haystack.agent.step.tool"
_MODEL: Final = "haystack.agent.step.llm"
_RUN: Final = "haystack.agent.run"
_STEP: Final = "haystack.agent.step"
_COMPONENT: Final = "haystack.component.run"
_GENERATORS: Final = "ChatGenerator"


class Haystack:
    """The `haystack.*` spans and attributes.

    Who: `haystack-ai` 3 through `opentelemetry-haystack`, and version 2, which has one span for
    all tool calls of a turn: there they are read from the generators' messages.

    The only sign of a failed tool is `haystack.tool.error`; the error's text is in its output.
    """

    name: ClassVar[str] = "haystack"
    scopes: ClassVar[tuple[str, ...]] = ("haystack",)
    prefixes: ClassVar[tuple[str, ...]] = ("haystack.",)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "HAYSTACK_CONTENT_TRACING_ENABLED=true",
            "arguments, results and messages",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        name = span.name
        if name == _TOOL:
            return _read_tool(span)
        if name == _MODEL:
            return _read_model(span, names.HAYSTACK_LLM_INPUT, names.HAYSTACK_LLM_OUTPUT)
        if name == _RUN:
            return RunReading(error=failure_of(span).text)
        if name == _STEP:
            return PartReading(step=True)
        if name == _COMPONENT and names.HAYSTACK_COMPONENT_OUTPUT in span.attributes:
            kind = string(span.attributes, names.HAYSTACK_COMPONENT_TYPE) or ""
            if kind.endswith(_GENERATORS):
                return _read_model(
                    span, names.HAYSTACK_COMPONENT_INPUT, names.HAYSTACK_COMPONENT_OUTPUT
                )
        return PartReading() if name.startswith(_COMPONENT) else None


def _read_tool(span: Span) -> ToolReading | PartReading:
    attributes = span.attributes
    name = string(attributes, names.HAYSTACK_TOOL_NAME)
    if name is None:
        return PartReading()  # it has its attributes when it ends
    failure = failure_of(span)
    if attributes.get(names.HAYSTACK_TOOL_ERROR) in (True, "True", "true"):
        failure = Failure(failed=True, source=names.HAYSTACK_TOOL_ERROR)
    return tool_reading(
        span,
        name,
        request_of(attributes.get(names.HAYSTACK_TOOL_INPUT)),
        answer_of(attributes.get(names.HAYSTACK_TOOL_OUTPUT)),
        failure=failure,
    )


def _read_model(span: Span, given: str, answered: str) -> ModelReading:
    output = answer_in(span.attributes.get(answered))
    reading = model_reading(span, output=output, history=history_in(span.attributes.get(given)))
    meta = _meta(span.attributes.get(answered))
    if isinstance(meta.get("model"), str):
        reading.model = meta["model"]
    usage = meta.get("usage")
    if isinstance(usage, dict):
        reading.input_tokens = usage.get("prompt_tokens")
        reading.output_tokens = usage.get("completion_tokens")
    return reading


def _meta(answered: object) -> dict[str, Any]:
    told = parsed(answered) if isinstance(answered, str) else answered
    replies = told.get("replies") if isinstance(told, dict) else None
    first = replies[0] if isinstance(replies, list) and replies else None
    meta = first.get("meta") if isinstance(first, dict) else None
    return meta if isinstance(meta, dict) else {}
