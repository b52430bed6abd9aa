"""Reads what Google's Agent Development Kit has beside the GenAI conventions."""

from typing import ClassVar, Final

from otel_watchdog import instrumentations as names, semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import string
from otel_watchdog.reading.histories import answer_in, history_in
from otel_watchdog.spans import PartReading, Reading, Span, model_reading

_SCOPE: Final = "gcp.vertex.agent"
_MODEL: Final = "call_llm"
_PARTS: Final = ("invocation", "execute_tool (merged)")
_SESSIONS: Final = (
    semconv.GEN_AI_CONVERSATION_ID,
    semconv.ADK_SESSION_ID,
    semconv.SESSION_ID,
)


class GoogleADK:
    """The `call_llm` spans of schema version 1, which contain the tools that they ask for.

    Who: `google-adk` 1, and 2 with `ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN=1`. All other spans, and
    those of schema version 2, follow the GenAI conventions and are read there.

    A failed tool has no status in version 1: the error stands in its response.
    """

    name: ClassVar[str] = "google_adk"
    scopes: ClassVar[tuple[str, ...]] = (_SCOPE,)
    prefixes: ClassVar[tuple[str, ...]] = ("gcp.vertex.agent.",)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY",
            "arguments, results and messages, from version 2 on",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        if span.name.startswith(_PARTS):
            return PartReading(session=string(attributes, *_SESSIONS))
        if span.name != _MODEL or semconv.OPENINFERENCE_SPAN_KIND in attributes:
            return None
        return model_reading(
            span,
            output=answer_in(attributes.get(names.ADK_RESPONSE)),
            history=history_in(attributes.get(names.ADK_REQUEST)),
            session=string(attributes, *_SESSIONS),
        )
