"""loopbrake: one brake a run, told each call with its result, stopping at its calibrated line.

Its line is learned with its own `calibrate` from the runs of the same set that went well, all but
the one being watched, at its default of 5 %: more good runs, and of the same kind, than it would
find in practice. Without calibration it only watches. It stops by the count of calls alone; its
signals explain. It never warns.
"""

import json
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import loopbrake

from benchmarks.quality.peers import tools
from benchmarks.quality.peers.guards import HALT, Rows
from benchmarks.quality.peers.steps import Result, Step

HOME = Path(tempfile.gettempdir()) / "otel-watchdog-loopbrake"
WATCHES_RUN = True


class LoopBrake:
    """Reports each call as a step."""

    def __init__(self, good: Sequence[int]) -> None:
        self._brake = loopbrake.start(calibrated(tuple(sorted(good))), home=HOME)

    def observe(self, step: Step) -> str | None:
        """Report a step once its result is there."""
        if not isinstance(step, Result):
            return None
        decision = self._brake.step(
            f"{step.call.tool} {tools.canonical(step.call.args)}",
            step.text,
            tool=step.call.tool,
            error=step.failed,
        )
        return HALT if decision.stop else None


@cache
def calibrated(good: tuple[int, ...]) -> str:
    """Let it learn its line from runs of these lengths, and return the project's name."""
    project = f"set-{abs(hash(good)):x}"
    step = {"action": "call", "observation": "", "error": None, "tokens": 0}
    runs = [
        {
            "group": "g",
            "dataset": "d",
            "task": f"task-{number}",
            "run": f"run-{number}",
            "success": True,
            "exit": None,
            "tokens_measured": False,
            "steps": [step] * length,
        }
        for number, length in enumerate(good)
        if length
    ]
    HOME.mkdir(exist_ok=True)
    path = HOME / f"{project}.jsonl"
    path.write_text("".join(json.dumps(run) + "\n" for run in runs), "utf-8")
    loopbrake.calibrate(path, project=project, home=HOME)
    return project


ROWS: Rows = {"loopbrake, calibrated": LoopBrake}
