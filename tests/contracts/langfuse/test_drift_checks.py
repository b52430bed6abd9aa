"""A drift check in Langfuse: a generation below its correction, whose cost counts once."""

import pytest
from opentelemetry import trace
from opentelemetry.context import Context

from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import correction, drift_check

WHO = {"session.id": "talk", "user.id": "ada", "langfuse.trace.tags": ("a", "b")}


@pytest.fixture
def checked(program):
    """Return what plays a run with a drift check in it, and says what reached Langfuse."""

    def play(*, corrected, late=False):
        traced = program()
        telemetry = Telemetry(traced.provider, version="1")
        with traced.span("invoke_agent fixer", operation__name="invoke_agent") as run:
            run.set_attributes(WHO)
            around = trace.set_span_in_context(run, Context())
            traced.call()
            if not late:
                _write(telemetry, around, corrected)
        if late:
            _write(telemetry, around, corrected)
        return traced

    def _write(telemetry, around, corrected):
        if corrected:
            telemetry.correct(correction(), around, WHO)
        telemetry.check(drift_check(), around, WHO, correction="c1" if corrected else None)

    return play


@pytest.mark.parametrize("late", [False, True], ids=["while it runs", "after its end"])
@pytest.mark.parametrize("corrected", [False, True], ids=["alone", "with a correction"])
def test_it_is_a_generation_and_no_root(checked, trace_of, corrected, late):
    """Type, name, session and place; it passes the export filter; the trace keeps its name."""
    traced = checked(corrected=corrected, late=late)

    (row,) = [row for row in map(traced.row, traced.spans()) if row.name == "drift-check"]
    (root,) = trace_of(traced.spans()).roots
    assert (row.type, row.level, row.is_root) == ("GENERATION", "DEFAULT", False)
    assert (row.session, row.user, row.tags) == ("talk", "ada", ("a", "b"))
    assert row.first("gen_ai.request.model") == "small-model"
    assert root.name == "invoke_agent fixer"


def test_its_cost_counts_once(checked, trace_of):
    """On the drift check and not on the correction above it, too: Langfuse adds up by itself."""
    traced = checked(corrected=True)

    rows = {row.name: row for row in map(traced.row, traced.spans())}
    given, check = rows["watchdog-nudge-turn-5"], rows["drift-check"]
    assert (given.cost, check.cost) == (0.0, 0.011)
    assert check.span.parent.span_id == given.span.context.span_id
    assert trace_of(traced.spans()).cost == pytest.approx(0.021)


def test_it_says_what_was_asked_and_what_came_back(checked):
    """Input and output are the judge's, and the verdict can be filtered by."""
    traced = checked(corrected=False)

    (row,) = [row for row in map(traced.row, traced.spans()) if row.name == "drift-check"]
    assert row.input.startswith("Task: build it.")
    assert row.output == '{"verdict":"stuck"}'
    assert row.first("langfuse.observation.metadata.watchdog.verdict") == "stuck"
