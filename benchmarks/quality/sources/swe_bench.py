"""Which tasks of SWE-bench were solved, as its harness and submissions write it down."""

import json
from pathlib import Path
from typing import Final

FOLDERS_ABOVE: Final = 3
"""Of a run, in which results of all runs are looked for."""


def is_solved(task: str, run: Path) -> bool | None:
    """Say whether a task was solved; `None` where the files do not say.

    Args:
        task: Its id.
        run: The run's file: the report lies beside it, or in `logs/<task>` or `results` above it.
    """
    report = run.parent / "report.json"
    if report.is_file():
        return _reported(task, report)
    for folder in run.absolute().parents[:FOLDERS_ABOVE]:
        report = folder / "logs" / task / "report.json"
        if report.is_file():
            return _reported(task, report)
        for results in (folder / "results.json", folder / "results" / "results.json"):
            if results.is_file():
                return task in json.loads(results.read_text("utf-8")).get("resolved", ())
    return None


def _reported(task: str, report: Path) -> bool | None:
    told = json.loads(report.read_text("utf-8"))
    resolved = told.get(task, told).get("resolved")
    return None if resolved is None else bool(resolved)
