"""Which dialects are asked for a span."""

from typing import ClassVar

import pytest

from otel_watchdog.scopes import MAX_ERRORS, MAX_PLAIN_NAMES, Scopes
from otel_watchdog.spans import ModelReading, RecordedSpan, ToolReading


def span(scope, name="x", **attributes):
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return RecordedSpan(name=name, scope=scope, trace_id=1, span_id=1, attributes=named, end=1.0)


def read(scopes, read_span):
    return scopes.read(scopes[read_span.scope], read_span)


@pytest.mark.parametrize(
    ("scope", "result"),
    [
        ("pydantic-ai", "of gen_ai"),
        ("openinference.instrumentation.x", "of openinference"),
        ("anything", "of openinference"),
    ],
)
def test_a_scope_that_a_dialect_names_is_read_in_it_first(scope, result):
    """Others are asked in the order in which dialects are listed."""
    both = span(
        scope,
        openinference__span__kind="TOOL",
        output__value="of openinference",
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__call__result="of gen_ai",
    )

    reading = read(Scopes(), both)

    assert isinstance(reading, ToolReading)
    assert (reading.result, reading.scope) == (result, scope)


def test_traceloops_envelopes_are_read_before_the_conventions():
    """They carry the conventions' names too."""
    both = span(
        "opentelemetry.instrumentation.langchain",
        traceloop__span__kind="tool",
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__call__arguments='{"inputs": {"p": 1}, "kwargs": {}}',
    )

    reading = read(Scopes(), both)

    assert isinstance(reading, ToolReading)
    assert reading.arguments == '{"p":1}'


def test_a_span_that_says_nothing_is_not_read_again():
    """Of an unknown scope, each name is tried once, until the scope turns out to speak."""
    scopes = Scopes()

    read(scopes, span("app", "query", db__system="sqlite"))
    assert "query" in scopes["app"].plain
    assert isinstance(read(scopes, span("app", "ask", gen_ai__request__model="m")), ModelReading)
    assert "query" not in scopes["app"].plain


def test_our_own_spans_are_never_read():
    """A correction is not an observation."""
    assert "anything" in Scopes()["otel_watchdog"].plain


def test_a_dialect_that_keeps_failing_is_switched_off():
    """The others go on."""

    class Broken:
        name: ClassVar[str] = "broken"
        scopes: ClassVar[tuple[str, ...]] = ("app",)
        prefixes: ClassVar[tuple[str, ...]] = ("a",)

        def read(self, span):
            raise ValueError(span.name)

    errors = []
    scopes = Scopes([Broken()], on_error=lambda name, _: errors.append(name))

    for _ in range(MAX_ERRORS + 2):
        assert read(scopes, span("app", a="b")) is None

    assert errors == ["broken"] * MAX_ERRORS


def test_plain_spans_are_remembered_by_name_and_origin():
    """Until their scope speaks; a span of the same name from elsewhere is another."""
    scopes, here = Scopes(), object()
    read(scopes, span("here"))

    assert scopes.is_plain(scopes["here"], "x", here)
    assert not scopes.is_plain(scopes["elsewhere"], "x", object())
    assert scopes.plain == {"x": here}

    read(scopes, span("here", "y", gen_ai__operation__name="execute_tool"))

    assert scopes.plain == {}
    assert not scopes.is_plain(scopes["here"], "x", here)


def test_names_of_plain_spans_are_bounded():
    """A program may name each of its spans anew."""
    scopes, here = Scopes(), object()
    for number in range(3 * MAX_PLAIN_NAMES):
        read(scopes, span("here", f"x{number}"))
        scopes.is_plain(scopes["here"], f"x{number}", here)

    assert 0 < len(scopes.plain) <= MAX_PLAIN_NAMES


def test_spans_of_ours_are_no_agents():
    """A drift check is a model call by the conventions, and no turn of the agent that it is about."""
    ours = span("otel_watchdog", "drift-check", gen_ai__operation__name="chat")

    assert read(Scopes(), ours) is None
