"""Reads the spans that LiteLLM's OpenTelemetry callback writes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from otel_watchdog import instrumentations as names, semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import parsed, string
from otel_watchdog.reading.histories import MessageHistory, answer_in, history_in
from otel_watchdog.reading.messages import CallPart, Message, messages_of
from otel_watchdog.spans import (
    PartReading,
    Reading,
    RunReading,
    Span,
    failure_of,
    model_reading,
)

_SCOPE: Final = "litellm"
_RAW: Final = "raw_gen_ai_request"
_REQUEST: Final = "litellm_request"
_SESSIONS: Final = (semconv.SESSION_ID, semconv.GEN_AI_CONVERSATION_ID)
_MAX_CALLS: Final = 64


class LiteLLM:
    """Model calls as Python reprs, on spans of LiteLLM's own.

    Who: `litellm` and its proxy, with the callback `otel`.

    Where a span is current, it writes each model call's attributes onto that one, over those of
    the call before: that span is the caller's run, not a model call. The call itself is the
    `raw_gen_ai_request` below. Without a current span it is a `litellm_request`, a trace each.
    """

    name: ClassVar[str] = "litellm"
    scopes: ClassVar[tuple[str, ...]] = (_SCOPE,)
    prefixes: ClassVar[tuple[str, ...]] = (names.LITELLM_CALL_ID, names.LITELLM_PROVIDER_MODEL)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "litellm.turn_off_message_logging = False",
            "messages",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        session = string(attributes, *_SESSIONS)
        if not span.scope.startswith(_SCOPE):
            if names.LITELLM_CALL_ID not in attributes:
                return None
            if span.parent_id is None:
                return RunReading(session=session, error=failure_of(span).text)
            return PartReading(session=session)
        if span.name.startswith(_RAW):
            output, given = _raw(attributes)
            history = MessageHistory(given) if given is not None else None
            return model_reading(span, output=output, history=history, session=session)
        if span.name.startswith(_REQUEST):
            return model_reading(
                span,
                output=_answer(attributes),
                history=history_in(attributes.get(semconv.GEN_AI_INPUT_MESSAGES)),
                session=session,
            )
        return PartReading(session=session)


def _raw(attributes: Mapping[str, Any]) -> tuple[list[Message] | None, list[Message] | None]:
    """Return answer and history of a provider's request: `llm.<provider>.choices`, `.messages`."""
    output: list[Message] | None = None
    given: list[Message] | None = None
    for name, value in attributes.items():
        if not isinstance(value, str):
            continue
        if name.endswith(".choices"):
            output = messages_of(parsed(value))
        elif name.endswith(".messages"):
            given = messages_of(parsed(value))
    return output, given


def _answer(attributes: Mapping[str, Any]) -> list[Message] | None:
    """Return the answer, with the calls that stand beside it without their ids."""
    output = answer_in(attributes.get(semconv.GEN_AI_OUTPUT_MESSAGES))
    if output and any(message.calls for message in output):
        return output
    calls: list[CallPart] = []
    for index in range(_MAX_CALLS):
        at = f"{semconv.GEN_AI_COMPLETION}.{index}.function_call"
        name = string(attributes, f"{at}.name")
        if name is None:
            break
        calls.append(CallPart(name=name, arguments=string(attributes, f"{at}.arguments")))
    if not calls:
        return output
    message = output[0] if output else Message(role="assistant")
    message.calls = calls
    return [message]
