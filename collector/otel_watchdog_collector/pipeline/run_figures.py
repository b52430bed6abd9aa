"""What a run took and brought, added up in its row."""

from collections.abc import Mapping
from typing import Any, Final

from otel_watchdog.evidence.effects import doing_of
from otel_watchdog.evidence.exchanges import WRITE
from otel_watchdog.model import ModelTurn, ToolOutcome, ToolResult

NOTHING_YET: Final[Mapping[str, Any]] = {
    "tokens": 0,
    "cost_usd": None,
    "corrected_turn": None,
    "turns_after": 0,
    "tokens_after": 0,
    "cost_usd_after": 0.0,
    "deliverables": 0,
}
"""Figures of a run that begins; `…_after` is what came after the turn of its first correction."""


def spend(run: dict[str, Any], turn: ModelTurn) -> None:
    """Add what a model call took.

    Args:
        run: The run's row.
        turn: The call.
    """
    for name, value in NOTHING_YET.items():  # a row from before there were figures
        run.setdefault(name, value)
    tokens = (turn.input_tokens or 0) + (turn.output_tokens or 0)
    cost = turn.cost_usd
    run["tokens"] += tokens
    if cost is not None:
        run["cost_usd"] = (run["cost_usd"] or 0.0) + cost
    if run["corrected_turn"] is not None and turn.turn > run["corrected_turn"]:
        run["turns_after"] += 1
        run["tokens_after"] += tokens
        run["cost_usd_after"] += cost or 0.0


def deliver(run: dict[str, Any], result: ToolResult) -> None:
    """Count what changed something and went well, such as a file that was written."""
    if result.outcome is ToolOutcome.OK and doing_of(result.name, None).effect is WRITE:
        run["deliverables"] = run.get("deliverables", 0) + 1


def correct(run: dict[str, Any], turn: int) -> None:
    """Note the turn of a correction; the run's first counts."""
    if run.get("corrected_turn") is None:
        run["corrected_turn"] = turn
