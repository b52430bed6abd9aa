"""loopguard-runtime: its callback handler, called as LangChain calls it, not interrupting.

Calls go to `on_tool_start`, results to `on_tool_end`, failed ones to `on_tool_error`. `warn` and
`replan` are warnings, `pause` and `stop` are halts. The second row has the budgets of its README's
`loopguard.yml`: 40 events, 15 calls. Its semantic detector wants embeddings of a hosted model: off.
"""

from loopguard.langgraph import LoopGuardCallbackHandler

from benchmarks.quality.peers.guards import HALT, WARN, Rows
from benchmarks.quality.peers.steps import Call, Message, Step

GRADES = {"continue": None, "warn": WARN, "replan": WARN, "pause": HALT, "stop": HALT}


class ToolError(Exception):
    """A tool's failure, as a callback is handed it."""


class LoopGuardRuntime:
    """Plays a run to the callbacks."""

    def __init__(self, *, max_steps: int | None = None, max_tool_calls: int | None = None) -> None:
        self._handler = LoopGuardCallbackHandler(
            interrupt_on_fatal=False, max_steps=max_steps, max_tool_calls=max_tool_calls
        )

    def observe(self, step: Step) -> str | None:
        """Call back, and return the decision that followed."""
        if isinstance(step, Message):
            return None
        if isinstance(step, Call):
            self._handler.on_tool_start({"name": step.tool}, inputs=dict(step.args))
        elif step.failed:
            self._handler.on_tool_error(ToolError(step.text))
        else:
            self._handler.on_tool_end(step.text)
        return GRADES[self._handler.monitor.decisions[-1].action.value]


ROWS: Rows = {
    "loopguard-runtime": lambda _: LoopGuardRuntime(),
    "loopguard-runtime, budgets of its example": lambda _: LoopGuardRuntime(
        max_steps=40, max_tool_calls=15
    ),
}
