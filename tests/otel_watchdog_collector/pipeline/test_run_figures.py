"""What a run took and brought, up to its first correction and after it."""

from otel_watchdog.model import ModelTurn, ToolOutcome, ToolResult
from otel_watchdog_collector.pipeline import run_figures


def turn(number, **facts):
    """Return a model call of a turn."""
    return ModelTurn(session="s", turn=number, input_tokens=90, output_tokens=10, **facts)


def test_what_came_after_the_first_correction_is_told_apart():
    """A later correction moves nothing; the corrected turn itself came before."""
    run = dict(run_figures.NOTHING_YET)

    run_figures.spend(run, turn(1, cost_usd=0.25))
    run_figures.correct(run, 1)
    run_figures.spend(run, turn(2, cost_usd=0.5))
    run_figures.correct(run, 2)
    run_figures.spend(run, turn(3))

    assert run == {
        "tokens": 300,
        "cost_usd": 0.75,
        "corrected_turn": 1,
        "turns_after": 2,
        "tokens_after": 200,
        "cost_usd_after": 0.5,
        "deliverables": 0,
    }


def test_a_row_from_before_there_were_figures_gets_them():
    """Rows are thawed from snapshots of older versions, too."""
    run = {"turns": 7}

    run_figures.spend(run, turn(8))
    run_figures.deliver(run, ToolResult("s", 8, "write_file", ToolOutcome.OK))

    assert (run["tokens"], run["deliverables"]) == (100, 1)


def test_only_what_changed_something_and_went_well_is_a_deliverable():
    """Reading is none, nor is writing that failed."""
    run = dict(run_figures.NOTHING_YET)

    run_figures.deliver(run, ToolResult("s", 1, "read_file", ToolOutcome.OK))
    run_figures.deliver(run, ToolResult("s", 1, "write_file", ToolOutcome.ERROR))

    assert run["deliverables"] == 0
