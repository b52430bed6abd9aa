"""Reads the spans and log records of Claude Code."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations as names, semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.model import ToolOutcome
from otel_watchdog.reading.content import attribute_text, string
from otel_watchdog.reading.wrappings import Answer, Request, answer_of, request_of
from otel_watchdog.spans import (
    Failure,
    LogRecord,
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
from otel_watchdog.spending import amount

_SCOPE: Final = "com.anthropic.claude_code"
_CALL_IDS: Final = (names.CLAUDE_CODE_CALL_ID, semconv.GEN_AI_TOOL_CALL_ID)
_RESULTS: Final = ("content", "output", "result")
_NO: Final = (False, "false")
_YES: Final = (True, "true")


class ClaudeCode:
    """Spans `claude_code.*`, and log records whose `event.name` says what happened.

    Who: Claude Code with telemetry on; its traces are in beta. Arguments stand in log records
    only, with `OTEL_LOG_TOOL_DETAILS=1`; results on spans only, with `OTEL_LOG_TOOL_CONTENT=1`.

    A tool's outcome stands on the span of its execution, inside the tool's own.
    """

    name: ClassVar[str] = "claude_code"
    scopes: ClassVar[tuple[str, ...]] = (_SCOPE,)
    prefixes: ClassVar[tuple[str, ...]] = ()
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "OTEL_LOG_TOOL_DETAILS=1",
            "arguments, in log records: OTEL_LOGS_EXPORTER=otlp",
        ),
        Switch(
            "OTEL_LOG_TOOL_CONTENT=1",
            "results, on spans",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        if not span.scope.startswith(_SCOPE):
            return None
        attributes = span.attributes
        session = string(attributes, semconv.SESSION_ID)
        kind = span.name.removeprefix("claude_code.")
        if kind == "tool":
            return _read_tool(span, session)
        if kind == "tool.execution":
            return _read_execution(span, session)
        if kind == "llm_request":
            return _read_model(span, session)
        if kind == "interaction":
            return RunReading(session=session, error=failure_of(span).text)
        return PartReading(session=session)

    def read_log(self, log: LogRecord) -> Reading | None:
        """See `ReadsLogs.read_log`."""
        if not log.scope.startswith(_SCOPE):
            return None
        attributes = log.attributes
        session = string(attributes, semconv.SESSION_ID)
        if log.name == "api_request":
            return _with_tokens(ModelReading(session=session), attributes)
        if log.name != "tool_result":
            return None
        success = attributes.get("success")
        failure = Failure(failed=False)
        if success in _NO:
            failure = Failure(failed=True, text=string(attributes, "error"), source="success")
        reading = tool_reading(
            log,
            string(attributes, "tool_name") or "",
            request_of(attributes.get("tool_input")),
            Answer(),
            call_id=string(attributes, *_CALL_IDS),
            session=session,
            failure=failure,
        )
        reading.partial = True  # its span has the result
        return reading


def _read_tool(span: Span, session: str | None) -> ToolReading | PartReading:
    attributes = span.attributes
    name = string(attributes, "tool_name")
    if name is None:
        return PartReading(session=session)
    answer = Answer()
    for event, told in span.events:
        if event == names.CLAUDE_CODE_TOOL_OUTPUT:
            texts = (attribute_text(told.get(key)) for key in _RESULTS if key in told)
            answer = answer_of(next(texts, None))
    call_id = string(attributes, *_CALL_IDS)
    reading = tool_reading(span, name, Request(), answer, call_id=call_id, session=session)
    reading.partial = True  # a log record has the arguments
    return reading


def _read_execution(span: Span, session: str | None) -> ToolReading:
    """Read what the span inside a tool's adds to it: how the call ended."""
    attributes = span.attributes
    failure = failure_of(span)
    reading = ToolReading("", string(attributes, *_CALL_IDS), session=session)
    if failure.failed or attributes.get("success") in _NO:
        reading.outcome = ToolOutcome.ERROR
        reading.error = string(attributes, "error") or failure.text
        reading.error_source = failure.source or "success"
    elif attributes.get("success") in _YES:
        reading.outcome = ToolOutcome.OK
    return reading


def _read_model(span: Span, session: str | None) -> ModelReading:
    reading = model_reading(span, output=None, history=None, session=session)
    return _with_tokens(reading, span.attributes)


def _with_tokens(reading: ModelReading, attributes: Mapping[str, Any]) -> ModelReading:
    reading.model = reading.model or string(attributes, "model")
    for field in ("input_tokens", "output_tokens"):
        told = attributes.get(field)
        setattr(reading, field, told if type(told) is int else None)
    reading.cost_usd = amount(attributes.get("cost_usd"))
    return reading
