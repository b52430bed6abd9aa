"""Reads spans that follow OpenTelemetry's GenAI conventions, in current and older spellings."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations, semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import attribute_text, first_of, known, parsed, string
from otel_watchdog.reading.histories import MessageHistory, answer_in, history_in
from otel_watchdog.reading.messages import Message, message_of, messages_of
from otel_watchdog.reading.outcomes import outcome_of
from otel_watchdog.reading.wrappings import PLAIN_HEADS, answer_of
from otel_watchdog.semconv import (
    GEN_AI_AGENT_NAME,
    GEN_AI_CONVERSATION_ID,
    GEN_AI_OPERATION_NAME,
    GEN_AI_TOOL_CALL_ARGUMENTS,
    GEN_AI_TOOL_CALL_ID,
    GEN_AI_TOOL_CALL_RESULT,
    GEN_AI_TOOL_NAME,
)
from otel_watchdog.spans import (
    LogRecord,
    ModelReading,
    PartReading,
    Reading,
    RunReading,
    Span,
    ToolReading,
    failure_of,
    model_reading,
)

_EVENT_ROLES: Final = {
    instrumentations.GEN_AI_USER_EVENT: "user",
    instrumentations.GEN_AI_ASSISTANT_EVENT: "assistant",
    instrumentations.GEN_AI_TOOL_EVENT: "tool",
    instrumentations.GEN_AI_CHOICE_EVENT: "assistant",
}
_MODEL_CALLS: Final = frozenset({"chat", "generate_content", "text_completion"})
_PARTS: Final = frozenset({"invoke_workflow", "create_agent", "plan"})
_OLDER_ARGUMENTS: Final = (semconv.TOOL_ARGUMENTS, semconv.ADK_TOOL_CALL_ARGS)
_OLDER_RESULTS: Final = (semconv.TOOL_RESPONSE, semconv.ADK_TOOL_RESPONSE)
_SESSIONS: Final = (GEN_AI_CONVERSATION_ID, semconv.SESSION_ID, semconv.ADK_SESSION_ID)


class GenAI:
    """The `gen_ai.*` attributes.

    Who: pydantic-ai, the opentelemetry-python-genai family, Google ADK, Strands, Agent Framework,
    Semantic Kernel, and everybody who follows the conventions by hand. Messages are read from log
    records too: one for each message, or one for each model call.
    """

    name: ClassVar[str] = "gen_ai"
    scopes: ClassVar[tuple[str, ...]] = (
        "agent_framework",
        "opentelemetry.instrumentation.genai",
        "pydantic-ai",
    )
    prefixes: ClassVar[tuple[str, ...]] = ("gen_ai.",)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
            "messages, arguments and results; `true` is no value of this one",
            ("opentelemetry.instrumentation.genai",),
        ),
        Switch(
            "OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true",
            "arguments and results of openai-agents",
            ("opentelemetry.instrumentation.genai.openai_agents",),
        ),
        Switch(
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
            "messages, in log records: read them with the spans",
            ("opentelemetry.instrumentation.openai_v2",),
        ),
        Switch(
            "InstrumentationSettings(include_content=True)",
            "arguments, results and messages",
            ("pydantic-ai",),
        ),
        Switch(
            "ENABLE_SENSITIVE_DATA=true",
            "arguments, results and messages",
            ("agent_framework",),
        ),
        Switch(
            "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true",
            "arguments and results, and messages in log records",
            ("semantic_kernel",),
        ),
        Switch(
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
            "arguments, results and messages of Copilot CLI",
            ("github.copilot",),
        ),
        Switch(
            "experimental_telemetry: { recordInputs: true, recordOutputs: true }",
            "arguments, results and messages",
            ("gen_ai",),
        ),
        Switch(
            "pip install openinference-instrumentation-autogen-agentchat",
            "arguments and results: AutoGen's own spans never have them",
            ("autogen",),
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        operation = attributes.get(GEN_AI_OPERATION_NAME)
        if operation == "execute_tool":
            return _read_tool(span, attributes)
        if type(operation) is not str:
            return _by_name(span.name) if span.end is None else None
        if operation in _MODEL_CALLS:
            return _read_model(span, attributes)
        if operation == "invoke_agent":
            return _read_run(span, attributes)
        if operation in _PARTS:
            return PartReading(session=string(attributes, *_SESSIONS))
        return None

    def read_log(self, log: LogRecord) -> Reading | None:
        """See `ReadsLogs.read_log`."""
        if log.name == instrumentations.GEN_AI_DETAILS_EVENT:
            given = log.attributes.get(semconv.GEN_AI_INPUT_MESSAGES)
            return ModelReading(
                output=answer_in(log.attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES)),
                history=history_in(given) if type(given) is str else _history(messages_of(given)),
            )
        role = _EVENT_ROLES.get(log.name)
        if role is None:
            return None
        body = parsed(log.body) if type(log.body) is str else log.body
        if not isinstance(body, dict):
            return None
        message = message_of({"role": role} | body)
        if log.name == instrumentations.GEN_AI_CHOICE_EVENT:
            return ModelReading(output=[message])
        return ModelReading(history=_history([message]))


def _history(messages: list[Message]) -> MessageHistory | None:
    return MessageHistory(messages) if messages else None


def _by_name(name: str) -> Reading | None:
    """Read an open span that has its attributes later: the conventions say how it is called."""
    operation, _, rest = name.partition(" ")
    if operation == "execute_tool" and rest:
        return PartReading() if rest[:1] == "(" else ToolReading(rest)
    return RunReading(rest) if operation == "invoke_agent" and rest else None


def _read_tool(span: Span, attributes: Mapping[str, Any]) -> ToolReading | PartReading:
    get = attributes.get
    name = get(GEN_AI_TOOL_NAME)
    if type(name) is not str:
        name = span.name.removeprefix("execute_tool ")
    elif name[:1] == "(":
        return PartReading()  # ADK's "(merged tools)", after calls that ran in parallel
    arguments = get(GEN_AI_TOOL_CALL_ARGUMENTS)
    if arguments is None:
        arguments = first_of(attributes, *_OLDER_ARGUMENTS)
    result = get(GEN_AI_TOOL_CALL_RESULT)
    call_id = get(GEN_AI_TOOL_CALL_ID)
    failure = failure_of(span)
    failed = failure.failed
    if type(result) is not str or result[:1] not in PLAIN_HEADS:
        if result is None:
            result = first_of(attributes, *_OLDER_RESULTS)
        result, inner_id, failed = answer_of(result)
        call_id = call_id or inner_id
        failed = failed or failure.failed
    outcome, told = outcome_of(result, failed=failed)
    agent = get(GEN_AI_AGENT_NAME)
    session = get(GEN_AI_CONVERSATION_ID)
    return ToolReading(
        name,
        known(str(call_id)) if call_id else None,
        attribute_text(arguments),
        outcome,
        result,
        failure.text or told,
        failure.source or (told and "result"),
        agent if type(agent) is str else None,
        session if type(session) is str else string(attributes, *_SESSIONS),
    )


def _read_model(span: Span, attributes: Mapping[str, Any]) -> ModelReading:
    return model_reading(
        span,
        output=answer_in(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES)),
        history=history_in(attributes.get(semconv.GEN_AI_INPUT_MESSAGES)),
        agent=string(attributes, GEN_AI_AGENT_NAME),
        session=string(attributes, *_SESSIONS),
    )


def _read_run(span: Span, attributes: Mapping[str, Any]) -> RunReading:
    return RunReading(
        agent=string(attributes, GEN_AI_AGENT_NAME),
        session=string(attributes, *_SESSIONS),
        error=failure_of(span).text,
    )
