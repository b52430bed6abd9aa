"""trajectory-fuse: `observe` after each result, as in its quickstart; what it raises is a halt.

Failures are told where the recording says so. The second row is its circuit breaker as `@fuse.tool`
runs it, asking before each call too, with the settings of its demo: stagnation from two failures
on, at most 50 actions. It never warns.
"""

from trajectory_fuse import AgentFuse, BudgetExceeded, DeadlockDetected, FuseConfig
from trajectory_fuse.guard import RunBudget, StagnationConfig
from trajectory_fuse.types import Action

from benchmarks.quality.peers.guards import HALT, Rows
from benchmarks.quality.peers.steps import Call, Result, Step

DEMO = {"stagnation": StagnationConfig(min_failures=2), "budgets": RunBudget(max_actions=50)}


class TrajectoryFuse:
    """Hands over actions; with `asks_before`, each call before it is made as well."""

    def __init__(self, config: FuseConfig, *, asks_before: bool = False) -> None:
        self._fuse = AgentFuse(config)
        self._asks_before = asks_before

    def observe(self, step: Step) -> str | None:
        """Ask or tell the fuse."""
        if isinstance(step, Call) and self._asks_before:
            return HALT if self._fuse.check(step.tool, dict(step.args)) else None
        if not isinstance(step, Result):
            return None
        action = Action(
            tool=step.call.tool, args=dict(step.call.args), result=step.text, success=_success(step)
        )
        try:
            self._fuse.observe(action)
        except (DeadlockDetected, BudgetExceeded):
            return HALT
        return None


def _success(step: Result) -> bool | None:
    return None if step.failed is None else not step.failed


ROWS: Rows = {
    "trajectory-fuse": lambda _: TrajectoryFuse(FuseConfig()),
    "trajectory-fuse, asking first, as its demo": lambda _: TrajectoryFuse(
        FuseConfig(**DEMO), asks_before=True
    ),
}
