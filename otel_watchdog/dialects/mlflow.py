"""Reads spans that MLflow writes: `@mlflow.trace` and its autologging."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations as names
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import parsed
from otel_watchdog.reading.histories import answer_in, history_in
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

_MODEL_CALLS: Final = frozenset({"CHAT_MODEL", "LLM"})


class Mlflow:
    """The `mlflow.*` attributes, each of whose values is JSON.

    Who: `mlflow` and `mlflow-tracing`. They write to a tracer provider of their own unless
    `MLFLOW_USE_DEFAULT_TRACER_PROVIDER=false`. Sessions are metadata of MLflow's traces, except
    where LangChain's metadata hold a thread.
    """

    name: ClassVar[str] = "mlflow"
    scopes: ClassVar[tuple[str, ...]] = ("mlflow.",)
    prefixes: ClassVar[tuple[str, ...]] = ("mlflow.",)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "MLFLOW_USE_DEFAULT_TRACER_PROVIDER=false",
            "all of it, in a live process: MLflow has a tracer provider of its own",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        kind = _plain(attributes, names.MLFLOW_SPAN_TYPE)
        if kind is None:
            return None
        agent, session = _whose(attributes)
        if kind == "TOOL":
            return _read_tool(span, agent, session)
        if kind in _MODEL_CALLS:
            return _read_model(span, agent, session)
        if kind == "AGENT" or (agent is not None and agent == span.name):
            return RunReading(agent or span.name, session, failure_of(span).text)
        return PartReading(agent, session)


def _read_tool(span: Span, agent: str | None, session: str | None) -> ToolReading:
    attributes = span.attributes
    return tool_reading(
        span,
        _plain(attributes, names.MLFLOW_FUNCTION_NAME) or span.name,
        request_of(attributes.get(names.MLFLOW_SPAN_INPUTS)),
        answer_of(attributes.get(names.MLFLOW_SPAN_OUTPUTS)),
        call_id=_plain(attributes, names.MLFLOW_CALL_ID),
        agent=agent,
        session=session,
    )


def _read_model(span: Span, agent: str | None, session: str | None) -> ModelReading:
    attributes = span.attributes
    reading = model_reading(
        span,
        output=answer_in(attributes.get(names.MLFLOW_SPAN_OUTPUTS)),
        history=history_in(attributes.get(names.MLFLOW_SPAN_INPUTS)),
        agent=agent,
        session=session,
    )
    reading.model = _plain(attributes, names.MLFLOW_MODEL)
    usage = _value(attributes, names.MLFLOW_TOKENS)
    if isinstance(usage, dict):
        reading.input_tokens = usage.get("input_tokens")
        reading.output_tokens = usage.get("output_tokens")
    return reading


def _whose(attributes: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the agent and the thread that LangChain's metadata name."""
    metadata = _value(attributes, names.MLFLOW_METADATA)
    if not isinstance(metadata, dict):
        return None, None
    agent = metadata.get("lc_agent_name")
    session = metadata.get("session_id") or metadata.get("thread_id")
    return (
        agent if isinstance(agent, str) else None,
        session if isinstance(session, str) else None,
    )


def _plain(attributes: Mapping[str, Any], name: str) -> str | None:
    value = _value(attributes, name)
    return value if isinstance(value, str) and value else None


def _value(attributes: Mapping[str, Any], name: str) -> Any:
    value = attributes.get(name)
    return parsed(value) if isinstance(value, str) else value
