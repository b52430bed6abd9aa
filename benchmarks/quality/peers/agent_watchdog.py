"""agent-watchdog (PyPI; no relation): each call recorded with its result; what it raises is a halt.

Its own defaults, which are strict: three the same in a row, or a pattern that fills eight calls.
Timeout and budget are off, as a recording takes no time and has no prices. A run that goes on after
a halt is a new watch to it. It never warns, and does not look at results.
"""

from contextlib import ExitStack

from agent_watchdog import AgentWatchdog, WatchdogHalt

from benchmarks.quality.peers.guards import HALT, Rows
from benchmarks.quality.peers.steps import Result, Step


class Watch:
    """Records calls in one watch."""

    def __init__(self) -> None:
        self._begin()

    def observe(self, step: Step) -> str | None:
        """Record a call once its result is there."""
        if not isinstance(step, Result):
            return None
        try:
            self._watchdog.record_tool_call(step.call.tool, dict(step.call.args), step.text)
        except WatchdogHalt:
            self._begin()
            return HALT
        return None

    def _begin(self) -> None:
        self._watchdog = AgentWatchdog(timeout_seconds=None)
        self._open = ExitStack()
        self._open.enter_context(self._watchdog.watch())


ROWS: Rows = {"agent-watchdog": lambda _: Watch()}
