"""Reads the spans that LangSmith writes in its OpenTelemetry mode."""

from typing import ClassVar, Final

from otel_watchdog import instrumentations as names, semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import string
from otel_watchdog.reading.histories import answer_in, history_in
from otel_watchdog.reading.wrappings import answer_of, request_of
from otel_watchdog.spans import (
    Failure,
    PartReading,
    Reading,
    RunReading,
    Span,
    ToolReading,
    failure_of,
    model_reading,
    tool_reading,
)

_AGENT: Final = f"{names.LANGSMITH_METADATA}.lc_agent_name"
_SESSIONS: Final = tuple(
    f"{names.LANGSMITH_METADATA}.{key}" for key in ("session_id", "thread_id", "conversation_id")
)
_TRACEBACK: Final = "Traceback (most recent call last)"


class LangSmith:
    """The `langsmith.*` attributes, with content in `gen_ai.prompt` and `gen_ai.completion`.

    Who: `langsmith` with `LANGSMITH_OTEL_ENABLED`. It exports all spans of a run in one burst
    after the run has ended: read for replay and reports, too late to correct anything.
    """

    name: ClassVar[str] = "langsmith"
    scopes: ClassVar[tuple[str, ...]] = ("langsmith",)
    prefixes: ClassVar[tuple[str, ...]] = ("langsmith.",)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "LANGSMITH_HIDE_INPUTS=false",
            "arguments and what the model is given",
        ),
        Switch(
            "LANGSMITH_HIDE_OUTPUTS=false",
            "results and what the model answers",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        kind = attributes.get(names.LANGSMITH_KIND)
        if kind is None:
            return None
        agent, session = string(attributes, _AGENT), string(attributes, *_SESSIONS)
        if kind == "tool":
            return _read_tool(span, agent, session)
        if kind == "llm":
            return model_reading(
                span,
                output=answer_in(attributes.get(semconv.GEN_AI_COMPLETION)),
                history=history_in(attributes.get(semconv.GEN_AI_PROMPT)),
                agent=agent,
                session=session,
            )
        if agent is not None and agent == span.name:
            return RunReading(agent, session, failure_of(span).text)
        return PartReading(agent, session)


def _read_tool(span: Span, agent: str | None, session: str | None) -> ToolReading:
    attributes = span.attributes
    failure = failure_of(span)
    if failure.text:
        failure = Failure(
            failed=True, text=failure.text.partition(_TRACEBACK)[0], source=failure.source
        )
    answered = attributes.get(semconv.GEN_AI_COMPLETION)
    return tool_reading(
        span,
        string(attributes, semconv.GEN_AI_TOOL_NAME) or span.name,
        request_of(attributes.get(semconv.GEN_AI_PROMPT)),
        answer_of(None if failure.failed and answered == "{}" else answered),
        call_id=attributes.get(semconv.GEN_AI_TOOL_CALL_ID),
        agent=agent,
        session=session,
        failure=failure,
    )
