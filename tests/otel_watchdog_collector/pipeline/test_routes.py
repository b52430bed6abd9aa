"""A conversation always meets the same shard, in bounded memory."""

import pytest

from otel_watchdog.spans import RecordedSpan
from otel_watchdog_collector.pipeline import routes as module
from otel_watchdog_collector.pipeline.routes import MAX_SECONDS, Routes

NOW = 1_790_000_000.0


def span(trace, **attributes):
    """Return a span with these attributes; `__` in a name stands for a dot."""
    return RecordedSpan(
        name="chat",
        scope="s",
        trace_id=trace,
        span_id=trace + 1,
        parent_id=None,
        attributes={name.replace("__", "."): value for name, value in attributes.items()},
        events=[],
        is_error=None,
        status_text="",
        start=1.0,
        end=2.0,
    )


def shard(routes, *spans, at=NOW):
    """Return the one shard that spans of one request go to."""
    (found,) = routes.split(spans, at)
    return found


def far_from(shard_id, routes):
    """Return a trace that goes elsewhere, as long as nobody knows its conversation."""
    return next(n for n in range(1, 1000) if routes.shard_of(f"{n:032x}") != shard_id)


@pytest.mark.parametrize(
    "name",
    [
        "gen_ai__conversation__id",
        "session__id",
        "langfuse__session__id",
        "gcp__vertex__agent__session_id",
        "traceloop__association__properties__session_id",
        "langsmith__metadata__thread_id",
    ],
)
def test_all_traces_of_a_conversation_go_one_way(name):
    """Whatever the instrumentation calls it."""
    routes = Routes()

    found = {shard(routes, span(n, **{name: "conv"})) for n in range(1, 40)}

    assert len(found) == 1


def test_spans_of_a_trace_stay_together_when_its_conversation_is_known_late():
    """And the conversation's other traces follow."""
    routes = Routes()
    elsewhere = routes.shard_of("conv")
    trace = far_from(elsewhere, routes)
    first = shard(routes, span(trace))

    later = shard(routes, span(trace, session__id="conv"))
    other = shard(routes, span(100_000, session__id="conv"))

    assert first != elsewhere
    assert (later, other) == (first, first)


def test_one_span_of_a_request_tells_of_its_trace():
    """In any order."""
    routes = Routes()
    there = routes.shard_of("conv")

    found = routes.split([span(7), span(7, session__id="conv"), span(7)], NOW)

    assert found == {there: {7}}


def test_what_is_frozen_comes_back():
    """Also a conversation that went another way than its name says."""
    routes, again = Routes(), Routes()
    trace = far_from(routes.shard_of("conv"), routes)
    first = shard(routes, span(trace))
    shard(routes, span(trace, session__id="conv"))

    again.thaw(routes.freeze())

    assert shard(again, span(trace)) == first
    assert shard(again, span(5, session__id="conv")) == first


def test_the_silent_are_forgotten_and_the_others_are_not(monkeypatch):
    """By time, and by number."""
    monkeypatch.setattr(module, "MAX_KNOWN", 10)
    routes = Routes()
    trace = far_from(routes.shard_of("conv"), routes)
    shard(routes, span(trace))
    first = shard(routes, span(trace, session__id="conv"))

    for step in range(1, 6):
        at = NOW + step * MAX_SECONDS
        assert shard(routes, span(1000 + step, session__id="conv"), at=at) == first
        for other in range(30):
            shard(routes, span(10_000 + 100 * step + other), at=at)
        assert shard(routes, span(2000 + step, session__id="conv"), at=at) == first
    shard(routes, span(1), at=NOW + 7 * MAX_SECONDS)
    shard(routes, span(1), at=NOW + 9 * MAX_SECONDS)

    assert routes.shard_of("conv") != first
    assert len(list(routes._traces.items())) <= 20
