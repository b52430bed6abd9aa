"""Plays runs to the guards of one adapter, in the environment of the package that it calls.

    python -m benchmarks.quality.peers.worker ADAPTER < runs

Runs come as JSON, one a line: `events`, and `is_good`, whether it went well. What was said goes out
as JSON, one row of the table a line. It needs the standard library and that package alone. What a
package prints is kept from the answer.
"""

import importlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

from benchmarks.quality.peers import PACKAGES, RULES
from benchmarks.quality.peers.guards import Guard, Maker, Rows
from benchmarks.quality.peers.steps import Call, Message, Step, steps_of

MAX_ERROR = 200


def watch(
    make: Maker, good: Sequence[int], steps: Sequence[Step], *, whole_run: bool = False
) -> dict[str, Any]:
    """Return what was said in one run: event and grade, in order, and how the guard crashed.

    Args:
        make: Makes the guard.
        good: Calls of each of the other runs that went well.
        steps: Of the run.
        whole_run: Whether one guard sees all agents. The user's words are for all.
    """
    said: list[tuple[int, str]] = []
    guards: dict[str | None, Guard] = {}
    try:
        for step in steps:
            if isinstance(step, Message) and step.is_from_user:
                for guard in guards.values():
                    guard.observe(step)
                continue
            agent = None if whole_run else step.agent
            if agent not in guards:
                guards[agent] = make(good)
            grade = guards[agent].observe(step)
            if grade is not None:
                said.append((step.index, grade))
    except Exception as error:  # noqa: BLE001 - a package may raise what it likes; it is told
        return {"said": said, "crash": f"{type(error).__name__}: {error}"[:MAX_ERROR]}
    return {"said": said, "crash": None}


def answer(
    rows: Rows, runs: Sequence[Mapping[str, Any]], *, whole_run: bool = False
) -> Iterator[dict[str, Any]]:
    """Play all runs to each of an adapter's rows, and yield what it said."""
    steps = [steps_of(run["events"]) for run in runs]
    lengths = [sum(isinstance(step, Call) for step in one) for one in steps]
    good = [number for number, run in enumerate(runs) if run["is_good"]]
    for name, make in rows.items():
        told = [
            watch(
                make,
                [lengths[other] for other in good if other != number],
                one,
                whole_run=whole_run,
            )
            for number, one in enumerate(steps)
        ]
        yield {"name": name, "runs": told}


def main() -> None:
    """Read runs, and answer."""
    out, sys.stdout = sys.stdout, sys.stderr
    name = sys.argv[1]
    adapter = importlib.import_module(f"benchmarks.quality.peers.{name}")
    of_package = PACKAGES.get(name)
    told = {"version": metadata.version(of_package) if of_package else RULES[name]}
    runs = [json.loads(line) for line in sys.stdin]
    whole_run = getattr(adapter, "WATCHES_RUN", False)
    for row in answer(adapter.ROWS, runs, whole_run=whole_run):
        out.write(json.dumps({**told, **row}) + "\n")


if __name__ == "__main__":
    main()
