"""What a span is, and what a dialect reads of it.

Readings are plain carriers between dialect and sessions, made on the traced program's thread, so
they are not frozen: that would cost four times as much.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from otel_watchdog import instrumentations, semconv
from otel_watchdog.model import ToolOutcome
from otel_watchdog.reading.content import first_of, known, whole_number
from otel_watchdog.reading.histories import History
from otel_watchdog.reading.messages import Message
from otel_watchdog.reading.outcomes import outcome_of
from otel_watchdog.reading.wrappings import Answer, Request
from otel_watchdog.spending import cost_of


class SpanEvent(NamedTuple):
    """A span event."""

    name: str
    attributes: Mapping[str, Any]


class Span(Protocol):
    """A span as plain values, whether it comes from this process or over the wire."""

    @property
    def name(self) -> str:
        """The span's name."""
        ...

    @property
    def scope(self) -> str:
        """Name of the instrumentation scope."""
        ...

    @property
    def trace_id(self) -> int:
        """Id of its trace."""
        ...

    @property
    def span_id(self) -> int:
        """Its own id."""
        ...

    @property
    def parent_id(self) -> int | None:
        """Id of its parent; `None` for a root."""
        ...

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Its attributes; of an open span, those it has now."""
        ...

    @property
    def events(self) -> Sequence[SpanEvent]:
        """Its events."""
        ...

    @property
    def is_error(self) -> bool | None:
        """Its status: ERROR is true, OK false, UNSET `None`."""
        ...

    @property
    def status_text(self) -> str:
        """Description of the status."""
        ...

    @property
    def start(self) -> float:
        """Seconds since the epoch."""
        ...

    @property
    def end(self) -> float | None:
        """Seconds since the epoch; `None` while the span is open."""
        ...


@dataclass(slots=True, kw_only=True)
class RecordedSpan:
    """A span from a recording or over the wire; see `Span`."""

    name: str
    scope: str
    trace_id: int
    span_id: int
    parent_id: int | None = None
    attributes: Mapping[str, Any]
    events: Sequence[SpanEvent] = ()
    is_error: bool | None = None
    status_text: str = ""
    start: float = 0.0
    end: float | None = None


@dataclass(slots=True, kw_only=True)
class LogRecord:
    """A log record, as a span that begins and ends at once, inside the one it was written in."""

    name: str
    """The event's name."""
    scope: str
    trace_id: int = 0
    """0 where it was written outside of any trace."""
    parent_id: int | None = None
    """Id of the span it was written in."""
    attributes: Mapping[str, Any]
    body: Any = None
    start: float = 0.0
    """When it was written, in seconds since the epoch."""

    @property
    def span_id(self) -> int:
        """See `Span.span_id`: it is none."""
        return 0

    @property
    def end(self) -> float:
        """See `Span.end`."""
        return self.start

    @property
    def events(self) -> Sequence[SpanEvent]:
        """See `Span.events`."""
        return ()

    @property
    def is_error(self) -> bool | None:
        """See `Span.is_error`."""
        return None

    @property
    def status_text(self) -> str:
        """See `Span.status_text`."""
        return ""


@dataclass(slots=True)
class ToolReading:
    """What a dialect reads of a tool call's span; what is not there stays `None`: unknown."""

    name: str
    call_id: str | None = None
    arguments: str | None = None
    """JSON text."""
    outcome: ToolOutcome = ToolOutcome.UNKNOWN
    result: str | None = None
    error: str | None = None
    error_source: str | None = None
    """Which sign told of the error."""
    agent: str | None = None
    """The agent's name."""
    session: str | None = None
    """The conversation's id, as the trace gives it."""
    scope: str = ""
    """The instrumentation that wrote the span."""
    step: int | None = None
    """Id of the step's span that the call is part of, where the trace has such."""
    partial: bool = False
    """Another source tells the rest: it is waited for until the next model call."""


@dataclass(slots=True)
class ModelReading:
    """What a dialect reads of a model call's span: one turn."""

    output: Sequence[Message] | None = None
    """What the model answered; `None` if not captured."""
    history: History | None = None
    """What it was given, read only as far as it is new."""
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    error: str | None = None
    agent: str | None = None
    session: str | None = None
    scope: str = ""


@dataclass(slots=True)
class RunReading:
    """What a dialect reads of the span of an agent's run: a prompt until control comes back."""

    agent: str | None = None
    session: str | None = None
    error: str | None = None
    scope: str = ""


@dataclass(slots=True)
class PartReading:
    """A span that is part of an agent's trace and none of the others: a workflow, a step."""

    agent: str | None = None
    session: str | None = None
    step: bool = False
    """It holds one turn and nothing else."""
    scope: str = ""


Reading: TypeAlias = ToolReading | ModelReading | RunReading | PartReading


class Failure(NamedTuple):
    """What a span itself says about its failure."""

    failed: bool | None = None
    """True, or `None`: no instrumentation can be trusted to mark every failure."""
    text: str | None = None
    source: str | None = None
    """Which of the span's signs said so."""


_NO_FAILURE = Failure()

LAST_EVENTS: Final = 16
"""Among these stand an exception, or an answer, with which a span ended; a conversation that some
have in their events stands before."""


_ERROR_TYPE: Final = semconv.ERROR_TYPE  # each tool span is asked for them: looked up once
_TOOL_STATUS: Final = semconv.GEN_AI_TOOL_STATUS
_EXIT_CODE: Final = instrumentations.PROCESS_EXIT_CODE


def failure_of(span: Span) -> Failure:
    """Return what a span says about its failure: an OR over all of its signs.

    Read are an `exception` event, `error.type`, status ERROR, `gen_ai.tool.status` and
    `process.exit.code`; the text is the exception's message, else the status description.
    """
    attributes = span.attributes
    for event in span.events[-LAST_EVENTS:]:
        if event.name == semconv.EXCEPTION_EVENT:
            said = event.attributes.get(semconv.EXCEPTION_MESSAGE)
            text = readable_error(str(said) if said else span.status_text)
            return Failure(failed=True, text=text, source=semconv.EXCEPTION_EVENT)
    if span.is_error:
        return Failure(failed=True, text=readable_error(span.status_text), source="status")
    if _ERROR_TYPE in attributes:
        text = readable_error(str(attributes[_ERROR_TYPE]))
        return Failure(failed=True, text=text, source=_ERROR_TYPE)
    if attributes.get(_TOOL_STATUS) == "error":
        return Failure(failed=True, text=None, source=_TOOL_STATUS)
    if attributes.get(_EXIT_CODE):
        return Failure(failed=True, text=None, source=_EXIT_CODE)
    return _NO_FAILURE


_REDACTED = "details are redacted"
"""In the error text of openai-agents by default: different failures must not look the same."""
_NO_TEXTS = frozenset({"", "_OTHER", "TOOL_ERROR"})
"""What stands where an error has no text: the conventions' catch-all, Google ADK's."""


def readable_error(text: str) -> str | None:
    """Return an error's text; `None` for what stands where there is none."""
    return None if text in _NO_TEXTS or _REDACTED in text else known(text)


def tool_reading(  # noqa: PLR0913 - one for each thing that a span can say
    span: Span,
    name: str,
    request: Request,
    answer: Answer,
    *,
    call_id: object = None,
    agent: str | None = None,
    session: str | None = None,
    failure: Failure | None = None,
) -> ToolReading:
    """Put together what was read of a tool call's span.

    Args:
        span: The span.
        name: The tool's name.
        request: The arguments.
        answer: What the tool gave back.
        call_id: Where the span has it in an attribute of its own.
        agent: The agent's name.
        session: The conversation's id.
        failure: Default: what `failure_of` reads.
    """
    failure = failure or failure_of(span)
    outcome, told = outcome_of(answer.text, failed=failure.failed or answer.failed)
    if answer.failed and told is None:
        told = answer.text
    return ToolReading(
        name,
        (known(str(call_id)) if call_id else None) or answer.call_id or request.call_id,
        request.arguments,
        outcome,
        answer.text,
        failure.text or told,
        failure.source or ("result" if outcome is ToolOutcome.ERROR else None),
        agent,
        session,
    )


def merge(reading: ToolReading, inner: ToolReading) -> None:
    """Add to what was read of a tool call what only another source of it says."""
    reading.call_id = reading.call_id or inner.call_id
    reading.arguments = reading.arguments or inner.arguments
    reading.result = reading.result if reading.result is not None else inner.result
    worse = inner.outcome is ToolOutcome.ERROR and reading.outcome is not ToolOutcome.ERROR
    if worse or reading.outcome is ToolOutcome.UNKNOWN:
        reading.outcome = inner.outcome
        reading.error = inner.error
        reading.error_source = inner.error_source


def model_reading(
    span: Span,
    *,
    output: Sequence[Message] | None,
    history: History | None,
    agent: str | None = None,
    session: str | None = None,
) -> ModelReading:
    """Put together what was read of a model call's span; model, tokens and cost in any spelling."""
    attributes = span.attributes
    return ModelReading(
        output=output,
        history=history,
        model=first_of(attributes, *_MODEL_NAMES),
        input_tokens=whole_number(first_of(attributes, *_INPUT_TOKENS)),
        output_tokens=whole_number(first_of(attributes, *_OUTPUT_TOKENS)),
        cost_usd=cost_of(attributes),
        error=failure_of(span).text,
        agent=agent,
        session=session,
    )


_MODEL_NAMES = (
    semconv.GEN_AI_RESPONSE_MODEL,
    semconv.GEN_AI_REQUEST_MODEL,
    semconv.LLM_MODEL_NAME,
    semconv.LANGFUSE_MODEL_NAME,
)
_INPUT_TOKENS = (
    semconv.GEN_AI_USAGE_INPUT_TOKENS,
    semconv.GEN_AI_USAGE_PROMPT_TOKENS,
    semconv.LLM_TOKEN_COUNT_PROMPT,
)
_OUTPUT_TOKENS = (
    semconv.GEN_AI_USAGE_OUTPUT_TOKENS,
    semconv.GEN_AI_USAGE_COMPLETION_TOKENS,
    semconv.LLM_TOKEN_COUNT_COMPLETION,
)
