"""unwedge: its guard after each result, enforcing, without a model as it comes from PyPI.

A shell's command is handed over as it is, any other call as name and arguments with the class of
the tool; whether it failed is told where the recording says so, else unwedge reads it from the
output. A hint is a warning; an escalation or a kill hands the run to a person or ends it, which is
a halt. There is no second row: its mode `stop` ends a run only on a model's verdict.
"""

from unwedge.adapters.generic import turn_from_command
from unwedge.guard import Guard, GuardConfig
from unwedge.turns import ToolClass

from benchmarks.quality.peers import tools
from benchmarks.quality.peers.guards import HALT, WARN, Rows
from benchmarks.quality.peers.steps import Result, Step

CLASSES = {
    tools.READ: ToolClass.NAVIGATE,
    tools.SEARCH: ToolClass.SEARCH,
    tools.WAIT: ToolClass.SEARCH,
    tools.EDIT: ToolClass.EDIT,
}
GRADES = {"continue": None, "flag": None, "cascade": None, "escalate": HALT, "kill": HALT}


class Unwedge:
    """Gives each call with its result as one turn."""

    def __init__(self) -> None:
        self._guard = Guard(goal="task", provider=None, config=GuardConfig(shadow=False))
        self._turns = 0

    def observe(self, step: Step) -> str | None:
        """Give a turn once its result is there."""
        if not isinstance(step, Result):
            return None
        self._turns += 1
        command = tools.command_of(step.call)
        kind = CLASSES.get(tools.kind_of(step.call.tool), ToolClass.RUN)
        turn = turn_from_command(
            self._turns,
            command or f"{step.call.tool} {tools.canonical(step.call.args)}",
            step.text,
            failed=step.failed,
            tool_class=None if command else kind,
        )
        return GRADES.get(self._guard.on_turn(turn).decision.action.value, WARN)


ROWS: Rows = {"unwedge": lambda _: Unwedge()}
