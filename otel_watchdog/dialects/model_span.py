"""Reads model calls that no other dialect reads, and the sessions that applications name."""

from typing import ClassVar, Final

from otel_watchdog import semconv
from otel_watchdog.reading.content import string
from otel_watchdog.reading.histories import answer_in, history_in
from otel_watchdog.spans import (
    PartReading,
    Reading,
    RunReading,
    Span,
    failure_of,
    model_reading,
)

_SESSIONS: Final = (semconv.GEN_AI_CONVERSATION_ID, semconv.SESSION_ID)
_SIGNS: Final = (semconv.GEN_AI_OUTPUT_MESSAGES, semconv.GEN_AI_REQUEST_MODEL)


class ModelSpan:
    """A model call by what it carries, whatever it is called; tools stand in its messages.

    Who: loops written by hand on top of a traced client, and instrumentations that follow the
    GenAI conventions without an operation's name.

    The root span of an application that carries a session's id is that session's run, so that
    model calls without one are put to it.
    """

    name: ClassVar[str] = "model_span"
    scopes: ClassVar[tuple[str, ...]] = ()
    prefixes: ClassVar[tuple[str, ...]] = ("gen_ai.", semconv.SESSION_ID)

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        session = string(attributes, *_SESSIONS)
        agent = string(attributes, semconv.GEN_AI_AGENT_NAME)
        named = semconv.GEN_AI_OPERATION_NAME in attributes
        if not named and any(sign in attributes for sign in _SIGNS):
            return model_reading(
                span,
                output=answer_in(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES)),
                history=history_in(attributes.get(semconv.GEN_AI_INPUT_MESSAGES)),
                agent=agent,
                session=session,
            )
        if session is None:
            return None
        if span.parent_id is None and not named:
            return RunReading(agent, session, failure_of(span).text)
        return PartReading(agent, session)
