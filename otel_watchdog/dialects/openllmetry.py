"""Reads the spans of OpenLLMetry, the Traceloop SDK, in current and older spellings."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations, semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import first_of, string
from otel_watchdog.reading.histories import FlatHistory, answer_in, flat_messages, history_in
from otel_watchdog.reading.messages import Layout
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

_LAYOUT: Final = Layout(message="", call="", function="", block="")
_MODEL_CALLS: Final = frozenset({"chat", "completion", "text_completion", "generate_content"})
_FLAT_SIGNS: Final = (
    f"{semconv.GEN_AI_COMPLETION}.0.role",
    f"{semconv.GEN_AI_PROMPT}.0.role",
    f"{semconv.GEN_AI_COMPLETION}.0.tool_calls.0.name",
)
_TOOLS: Final = (
    semconv.GEN_AI_TOOL_NAME,
    semconv.TOOL_NAME,
    semconv.TRACELOOP_ENTITY_NAME,
)
_AGENTS: Final = (
    semconv.GEN_AI_AGENT_NAME,
    f"{semconv.TRACELOOP_PROPERTIES}.lc_agent_name",
)
_SESSIONS: Final = (
    semconv.GEN_AI_CONVERSATION_ID,
    f"{semconv.TRACELOOP_PROPERTIES}.session_id",
    f"{semconv.TRACELOOP_PROPERTIES}.thread_id",
    f"{semconv.TRACELOOP_PROPERTIES}.conversation_id",
    semconv.SESSION_ID,
)


class OpenLLMetry:
    """The `traceloop.*` attributes, and messages flattened under `gen_ai.prompt`.

    Who: `opentelemetry-instrumentation-*` by Traceloop, and functions under its `@workflow`,
    `@agent` and `@tool`. Spans of theirs that follow the GenAI conventions alone are read there.

    LlamaIndex's tool calls are tasks that name a tool; a failed tool's own span never ends.

    `invoke_agent` on a task is not a run: CrewAI's crews, tasks and agents all claim it.
    """

    name: ClassVar[str] = "openllmetry"
    scopes: ClassVar[tuple[str, ...]] = ()
    prefixes: ClassVar[tuple[str, ...]] = (
        "traceloop.",
        semconv.LLM_REQUEST_TYPE,
        semconv.GEN_AI_PROMPT,
        semconv.GEN_AI_COMPLETION,
    )
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "TRACELOOP_TRACE_CONTENT=true",
            "arguments, results and messages",
        ),
        Switch(
            "OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true",
            "arguments and results of openai-agents",
            ("opentelemetry.instrumentation.openai_agents",),
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        kind = attributes.get(semconv.TRACELOOP_SPAN_KIND)
        if kind is None:
            return _read_model(span, attributes) if _is_model(attributes) else None
        if kind == "tool" or (kind == "task" and semconv.TOOL_NAME in attributes):
            return _read_tool(span, attributes)
        agent, session = string(attributes, *_AGENTS), string(attributes, *_SESSIONS)
        if kind == "agent":
            agent = agent or string(attributes, semconv.TRACELOOP_ENTITY_NAME)
        elif kind != "workflow":
            return PartReading(agent, session)
        return RunReading(agent, session, failure_of(span).text)


def _is_model(attributes: Mapping[str, Any]) -> bool:
    kind = string(attributes, semconv.LLM_REQUEST_TYPE)
    if kind is not None:
        return kind in _MODEL_CALLS
    if semconv.TRACELOOP_ENTITY_PATH in attributes:
        return string(attributes, semconv.GEN_AI_OPERATION_NAME) in _MODEL_CALLS
    return any(sign in attributes for sign in _FLAT_SIGNS)


def _read_tool(span: Span, attributes: Mapping[str, Any]) -> ToolReading:
    failure = failure_of(span)
    if not failure.failed and attributes.get(semconv.GEN_AI_TASK_STATUS) == "failure":
        failure = Failure(failed=True, source=semconv.GEN_AI_TASK_STATUS)
    return tool_reading(
        span,
        string(attributes, *_TOOLS) or span.name,
        request_of(
            first_of(
                attributes,
                semconv.GEN_AI_TOOL_CALL_ARGUMENTS,
                instrumentations.TRACELOOP_TOOL_ARGUMENTS,
                semconv.TRACELOOP_ENTITY_INPUT,
            )
        ),
        answer_of(
            first_of(attributes, semconv.GEN_AI_TOOL_CALL_RESULT, semconv.TRACELOOP_ENTITY_OUTPUT)
        ),
        call_id=attributes.get(semconv.GEN_AI_TOOL_CALL_ID),
        agent=string(attributes, *_AGENTS),
        session=string(attributes, *_SESSIONS),
        failure=failure,
    )


def _read_model(span: Span, attributes: Mapping[str, Any]) -> ModelReading:
    output = answer_in(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES))
    history = history_in(attributes.get(semconv.GEN_AI_INPUT_MESSAGES))
    return model_reading(
        span,
        output=output or flat_messages(attributes, semconv.GEN_AI_COMPLETION, _LAYOUT),
        history=history or FlatHistory(attributes, semconv.GEN_AI_PROMPT, _LAYOUT),
        agent=string(attributes, *_AGENTS),
        session=string(attributes, *_SESSIONS),
    )
