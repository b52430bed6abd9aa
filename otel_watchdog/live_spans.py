"""Shows the OpenTelemetry SDK's spans as plain ones, and makes contexts to write beside them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased
from opentelemetry.trace import NonRecordingSpan, SpanContext, StatusCode

from otel_watchdog import semconv
from otel_watchdog.spans import Reading, SpanEvent
from otel_watchdog.streams.span_tree import Node

_NANOSECONDS: Final = 1e9
_OF_AGENTS: Final = (semconv.GEN_AI_AGENT_NAME, semconv.GEN_AI_AGENT_ID)


class LiveSpan:
    """An SDK span, open or ended, as a `Span`; a value is fetched when it is asked for."""

    __slots__ = ("_span", "attributes", "end", "parent_id", "span_id", "start")

    def __init__(self, span: Any) -> None:
        self._span = span
        attributes, parent = span.attributes, span.parent
        self.attributes: Mapping[str, Any] = {} if attributes is None else attributes.copy()
        self.parent_id: int | None = None if parent is None else parent.span_id
        self.span_id: int = span.context.span_id
        self.start: float = span.start_time / _NANOSECONDS
        end = span.end_time
        self.end: float | None = end / _NANOSECONDS if end else None

    @property
    def name(self) -> str:
        """See `Span.name`."""
        return str(self._span.name)

    @property
    def scope(self) -> str:
        """See `Span.scope`."""
        scope = self._span.instrumentation_scope
        return scope.name if scope is not None else ""

    @property
    def place(self) -> SpanContext:
        """Where it stands, and whether it is sampled."""
        context: SpanContext = self._span.context
        return context

    @property
    def trace_id(self) -> int:
        """See `Span.trace_id`."""
        return int(self._span.context.trace_id)

    @property
    def events(self) -> Sequence[SpanEvent]:
        """See `Span.events`."""
        # Most spans have none, and the SDK copies an empty list under a lock to say so.
        if not getattr(self._span, "_events", True):
            return ()
        return [SpanEvent(event.name, event.attributes or {}) for event in self._span.events]

    @property
    def is_error(self) -> bool | None:
        """See `Span.is_error`."""
        code = self._span.status.status_code
        return None if code is StatusCode.UNSET else code is StatusCode.ERROR

    @property
    def status_text(self) -> str:
        """See `Span.status_text`."""
        return self._span.status.description or ""


def beside(span: LiveSpan, context: Context | None) -> Context:
    """Return the context in which to write beside `span`; below it, where it is a root.

    What is written there has a parent in the trace and is exported if the trace is: a correction
    is never a trace's root, whoever's context it is written in.

    Args:
        span: The judged span.
        context: The context in which it began; `None`: it was not seen to begin.
    """
    context = context if context is not None else get_current()
    if span.parent_id is not None:
        around = trace.get_current_span(context).get_span_context()
        if around.trace_id == span.trace_id:
            return context
    own = span.place
    parent = SpanContext(
        trace_id=own.trace_id,
        span_id=span.parent_id or own.span_id,
        is_remote=False,
        trace_flags=own.trace_flags,
    )
    return trace.set_span_in_context(NonRecordingSpan(parent), context)


def around(
    span: LiveSpan, reading: Reading | None, node: Node, context: Context
) -> tuple[list[Any], str | None]:
    """Return a judged span and those it stands in, and the conversation that they name.

    Args:
        span: The judged span.
        reading: What was read of it.
        node: Its place in the tree.
        context: The context of what is written beside it.
    """
    above = list(node.above())
    readings = (reading, *(one.reading for one in above))
    conversation = next((one.session for one in readings if one and one.session), None)
    return [span, *(one.span for one in above), trace.get_current_span(context)], conversation


def inherited(
    spans: Iterable[Any], *, agent: str | None, conversation: str | None
) -> dict[str, Any]:
    """Return what spans say together; of what several say, the first one's word counts.

    Args:
        spans: A judged span, then those that it stands in, the nearest first.
        agent: The judged agent's name, where it is known: what spans say of others is left out.
        conversation: Its conversation's id; it counts where no span names a session.
    """
    found: dict[str, Any] = {}
    for span in spans:
        attributes = getattr(span, "attributes", None) or {}
        name = attributes.get(semconv.GEN_AI_AGENT_NAME)
        agent = agent or name
        for key, value in attributes.items():
            if name == agent or key not in _OF_AGENTS:
                found.setdefault(key, value)
    if agent:
        found[semconv.GEN_AI_AGENT_NAME] = agent
    if conversation and not any(key in found for key in semconv.SESSIONS):
        found[semconv.GEN_AI_CONVERSATION_ID] = conversation
    return found


def same_pipeline(span: Any) -> trace.TracerProvider:
    """Return a tracer provider whose spans go where `span` goes, also from an isolated provider.

    The SDK does not tell a span's provider; its processors can be reached through the span. Where
    that is not so, the global provider is returned.
    """
    processors = getattr(span, "_span_processor", None)
    if processors is None:
        return trace.get_tracer_provider()
    return TracerProvider(
        sampler=ParentBased(ALWAYS_ON),  # the environment's may be one that is not known in code
        active_span_processor=processors,
        resource=span.resource,
        shutdown_on_exit=False,
    )


def flush_of(span: Any) -> Callable[[int], object]:
    """Return what has the exporters send that an open span will pass through.

    As with `same_pipeline`, where they cannot be reached it is the global provider's.
    """
    processors = getattr(span, "_span_processor", None)
    flush: Callable[[int], object] = getattr(
        trace.get_tracer_provider() if processors is None else processors, "force_flush", no_flush
    )
    return flush


def no_flush(_: int) -> object:
    """Stand where there is no SDK."""


def category_of(spans: Iterable[Any]) -> str | None:
    """Return the category that the first of these spans names which names one; `None`: none does.

    Args:
        spans: The nearest first; `None` among them is passed over.
    """
    for span in spans:
        found = (getattr(span, "attributes", None) or {}).get(semconv.WATCHDOG_CATEGORY)
        if isinstance(found, str) and found:
            return found
    return None
