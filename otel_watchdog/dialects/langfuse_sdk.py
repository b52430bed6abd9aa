"""Reads spans that Langfuse's SDK writes: `@observe`, its clients, its LangChain handler."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import string
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

_CALL_ID: Final = f"{semconv.LANGFUSE_OBSERVATION_METADATA}.tool_call_id"
_AGENT: Final = f"{semconv.LANGFUSE_OBSERVATION_METADATA}.lc_agent_name"
_SESSIONS: Final = (semconv.SESSION_ID, semconv.LANGFUSE_SESSION_ID)


class LangfuseSDK:
    """The `langfuse.observation.*` attributes.

    Who: the `langfuse` package for Python and JavaScript, and whoever sets its attributes by hand.

    A tool's name is the span's. A LangGraph agent is a `chain` that is called what its metadata
    call the agent.
    """

    name: ClassVar[str] = "langfuse_sdk"
    scopes: ClassVar[tuple[str, ...]] = ("langfuse-sdk",)
    prefixes: ClassVar[tuple[str, ...]] = (semconv.LANGFUSE_OBSERVATION_TYPE,)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=true",
            "arguments and results of `@observe`",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        kind = attributes.get(semconv.LANGFUSE_OBSERVATION_TYPE)
        if kind == "tool":
            return _read_tool(span, attributes)
        if kind == "generation":
            return _read_model(span, attributes)
        if kind is None:
            return None
        agent, session = _agent(attributes), string(attributes, *_SESSIONS)
        if kind == "agent" or (kind == "chain" and agent == span.name):
            return RunReading(agent or span.name, session, _failure(span, attributes).text)
        return PartReading(agent, session)


def _read_tool(span: Span, attributes: Mapping[str, Any]) -> ToolReading:
    return tool_reading(
        span,
        span.name,
        request_of(attributes.get(semconv.LANGFUSE_OBSERVATION_INPUT)),
        answer_of(attributes.get(semconv.LANGFUSE_OBSERVATION_OUTPUT)),
        call_id=_unquoted(attributes.get(_CALL_ID)),
        agent=_agent(attributes),
        session=string(attributes, *_SESSIONS),
        failure=_failure(span, attributes),
    )


def _read_model(span: Span, attributes: Mapping[str, Any]) -> ModelReading:
    return model_reading(
        span,
        output=answer_in(attributes.get(semconv.LANGFUSE_OBSERVATION_OUTPUT)),
        history=history_in(attributes.get(semconv.LANGFUSE_OBSERVATION_INPUT)),
        agent=_agent(attributes),
        session=string(attributes, *_SESSIONS),
    )


def _failure(span: Span, attributes: Mapping[str, Any]) -> Failure:
    failure = failure_of(span)
    if attributes.get(semconv.LANGFUSE_OBSERVATION_LEVEL) != "ERROR":
        return failure
    told = string(attributes, semconv.LANGFUSE_OBSERVATION_STATUS_MESSAGE)
    source = failure.source or semconv.LANGFUSE_OBSERVATION_LEVEL
    return Failure(failed=True, text=failure.text or told, source=source)


def _agent(attributes: Mapping[str, Any]) -> str | None:
    return _unquoted(attributes.get(_AGENT))


def _unquoted(value: object) -> str | None:
    """Return a metadata value, which is recorded as JSON, as text."""
    return answer_of(value).text if isinstance(value, str) else None
