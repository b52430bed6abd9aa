"""What spans say of an agent's health."""

import pytest

from otel_watchdog.model import ModelTurn, ToolOutcome, ToolResult
from otel_watchdog.spans import RecordedSpan
from otel_watchdog_collector.health import SignKind
from otel_watchdog_collector.pipeline.signs import failure_kind, signs_of


def span(**facts):
    """Return an ended span."""
    given = {"name": "chat m", "scope": "s", "trace_id": 1, "span_id": 2, "attributes": {}}
    return RecordedSpan(**{**given, **facts})


def turn(**facts):
    """Return a model's answer."""
    return ModelTurn(session="s", turn=1, **{"model": "m", "text": "hello", **facts})


def kinds(observations, judged):
    """Return what kinds of signs there are."""
    return [sign.kind for sign in signs_of(observations, judged, "shop", "fixer")]


REFUSED = [
    "Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}",
    "AuthenticationError",
    "openai.PermissionDeniedError: 403 forbidden",
    "botocore.exceptions.ClientError: ExpiredTokenException",
    "invalid x-api-key: unauthorized",
]
FAILED = [
    "Error code: 429 - rate_limit_exceeded",
    "anthropic.InternalServerError: Error code: 529 - overloaded_error",
    "HTTP 500: internal error",
    "502 Bad Gateway",
    "APIConnectionError: Connection error.",
    "APITimeoutError: Request timed out.",
    "[Errno -2] Name or service not known: getaddrinfo failed",
]
NEITHER = ["BadRequestError: Error code: 400 - prompt is too long", "ValueError: no such model", ""]


@pytest.mark.parametrize(
    ("text", "kind"),
    [(text, SignKind.REFUSED) for text in REFUSED]
    + [(text, SignKind.FAILED) for text in FAILED]
    + [(text, SignKind.ACTIVITY) for text in NEITHER],
)
def test_errors_of_model_calls_are_told_apart(text, kind):
    """The credential's fault, the provider's fault, and anybody else's."""
    assert failure_kind(text) is kind


def test_a_model_that_answered_takes_the_credential():
    """And says which provider it is of."""
    judged = span(attributes={"gen_ai.provider.name": "anthropic"})

    (sign,) = signs_of([turn()], judged, "shop", "fixer")

    assert (sign.kind, sign.provider, sign.id) == (SignKind.ANSWER, "anthropic", "shop/fixer")


@pytest.mark.parametrize("provider", [None, 7, ""])
def test_a_provider_that_is_no_text_is_not_known(provider):
    """The attribute comes from outside."""
    (sign,) = signs_of([turn()], span(attributes={"gen_ai.system": provider}), "shop", None)

    assert sign.provider is None


def test_a_call_without_a_text_of_its_error_failed_all_the_same():
    """Only the status and the error's class may say so."""
    judged = span(is_error=True, attributes={"error.type": "AuthenticationError"})

    assert kinds([turn(text=None)], judged) == [SignKind.REFUSED]
    assert kinds([turn(text=None)], span(is_error=True)) == [SignKind.ACTIVITY]


def test_what_the_provider_said_is_redacted_and_cut():
    """It stands in a condition that people see."""
    text = "401 invalid key sk-ant-0123456789abcdef0123\nand " + "x" * 5000

    (sign,) = signs_of([turn(error=text)], span(is_error=True), "shop", "fixer")

    assert sign.text.startswith("401 invalid key [redacted] and xxx")
    assert len(sign.text) == 200


def test_a_turn_that_only_tools_tell_of_proves_no_credential():
    """The model's call was not traced: nobody knows how it went."""
    assert kinds([turn(model=None, text=None)], span()) == [SignKind.ACTIVITY]


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (ToolOutcome.OK, SignKind.WORK),
        (ToolOutcome.EMPTY, SignKind.WORK),
        (ToolOutcome.UNKNOWN, SignKind.WORK),
        (ToolOutcome.ERROR, SignKind.ACTIVITY),
        (ToolOutcome.REFUSED, SignKind.ACTIVITY),
    ],
)
def test_a_tool_that_worked_is_work(outcome, kind):
    """One that failed is a sign of life, no more."""
    result = ToolResult(session="s", turn=1, name="ls", outcome=outcome)

    assert kinds([result], span()) == [kind]


def test_a_span_of_which_nothing_was_observed_is_a_sign_of_life():
    """Such as a run's own span."""
    assert kinds([], span()) == [SignKind.ACTIVITY]
