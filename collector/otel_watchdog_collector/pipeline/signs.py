"""What spans say of an agent's health: that it works, or that its model provider refuses it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from otel_watchdog import semconv
from otel_watchdog.evidence.exchanges import AUTH, SERVER
from otel_watchdog.evidence.failures import trouble_of
from otel_watchdog.model import ModelTurn, Observation, ToolOutcome, ToolResult
from otel_watchdog.otlp import Recorded
from otel_watchdog.redaction import redacted
from otel_watchdog_collector.health import Sign, SignKind

MAX_TEXT_CHARS: Final = 200
MAX_PROVIDER_CHARS: Final = 64

COUNTED: Final = frozenset({SignKind.REFUSED, SignKind.FAILED})
"""Signs whose number says something; of the others the last is enough."""

_REFUSED: Final = re.compile(
    r"AuthenticationError|PermissionDenied|AccessDenied|Unauthenticated|ExpiredToken|InvalidApiKey"
)
_DOWN: Final = re.compile(
    r"(?i)\b5\d\d\b|InternalServerError|APIConnectionError|APITimeoutError|ServiceUnavailable"
    r"|RateLimit|Overloaded|tim(?:ed )?(?:e ?)?out|getaddrinfo|name resolution|connection error"
)


def signs_of(
    observations: Sequence[Observation], span: Recorded, service: str, agent: str | None
) -> Iterator[Sign]:
    """Yield what an ended span or a log record says of its agent's health, by what it told.

    Args:
        observations: What the span added to its session.
        span: It.
        service: Its service's name.
        agent: Its agent's name, if it is known.
    """
    for observation in observations:
        if type(observation) is ModelTurn:
            kind, text = _of_turn(observation, span)
            yield Sign(service, agent, kind, _provider(span.attributes), text)
        elif type(observation) is ToolResult:
            worked = observation.outcome not in {ToolOutcome.ERROR, ToolOutcome.REFUSED}
            yield Sign(service, agent, SignKind.WORK if worked else SignKind.ACTIVITY)
    if not observations:
        yield Sign(service, agent, SignKind.ACTIVITY)


def failure_kind(text: str) -> SignKind:
    """Return what a failed model call says: the provider refused, failed, or neither.

    >>> failure_kind("Error code: 401"), failure_kind("APITimeoutError"), failure_kind("HTTP 400")
    (<SignKind.REFUSED: 'refused'>, <SignKind.FAILED: 'failed'>, <SignKind.ACTIVITY: 'activity'>)
    """
    trouble = trouble_of(text)
    if trouble is AUTH or (trouble is not SERVER and _REFUSED.search(text)):
        return SignKind.REFUSED
    return SignKind.FAILED if trouble is SERVER or _DOWN.search(text) else SignKind.ACTIVITY


def _of_turn(turn: ModelTurn, span: Recorded) -> tuple[SignKind, str]:
    if turn.model is None and turn.text is None and turn.error is None:
        return SignKind.ACTIVITY, ""  # a turn that only its tools tell of
    if turn.error is None and not span.is_error:
        return SignKind.ANSWER, ""
    kind = span.attributes.get(semconv.ERROR_TYPE)
    parts = [str(part) for part in (kind, turn.error or span.status_text) if part]
    text = ": ".join(parts)[: MAX_TEXT_CHARS * 4]
    return failure_kind(text), " ".join(redacted(text).split())[:MAX_TEXT_CHARS]


def _provider(attributes: Mapping[str, Any]) -> str | None:
    found = attributes.get(semconv.GEN_AI_PROVIDER_NAME) or attributes.get(semconv.GEN_AI_SYSTEM)
    return found[:MAX_PROVIDER_CHARS] if isinstance(found, str) and found else None
