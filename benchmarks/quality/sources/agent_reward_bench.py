"""Runs of AgentRewardBench: web agents, judged by people who were asked whether they looped.

Published on the Hugging Face hub as McGill-NLP/agent-reward-bench: `annotations.csv`, and a file a
run in `cleaned/<benchmark>/<agent>/<experiment>/<task>.json`, with `steps` of `{num, reasoning,
action, url, axtree_pruned, last_action_error}`; what an action led to stands in the step after it.
Where annotators disagree, a run is borderline. These agents see pages through a tree of hundreds of
lines, of which some move by themselves: a result is what the next page shows.
"""

import ast
import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.sources.events import Event, answered, called, files, said

_EXPECT: Final = {
    frozenset({"Yes"}): "fire",
    frozenset({"No"}): "quiet",
}


def read(path: Path) -> Iterator[LabelledRun]:
    """Yield the annotated runs of a folder that holds a copy of the data set."""
    verdicts: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for file in files(path, "annotations.csv"):
        with file.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                verdicts[row["exp_name"], row["task_id"]].append(row)
    for file in files(path, "cleaned/**/*.json"):
        found = verdicts.get((file.parent.name, file.stem))
        if found:
            yield _run(file, found)


def _run(file: Path, verdicts: Sequence[Mapping[str, str]]) -> LabelledRun:
    loops = frozenset(one["trajectory_looping"] for one in verdicts)
    solved = {one["trajectory_success"] for one in verdicts}
    return LabelledRun(
        id=f"{file.parent.name}:{file.stem}",
        group=f"agent_reward_bench {verdicts[0]['benchmark']}",
        events=events_of(json.loads(file.read_text("utf-8"))["steps"]),
        expect=_EXPECT.get(loops, "borderline"),
        is_solved=solved == {"Successful"} if "Unsure" not in solved and len(solved) == 1 else None,
    )


def events_of(steps: Sequence[Mapping[str, Any]]) -> list[Event]:
    """Return a run's events; each step is a turn, and the page after it its result."""
    events: list[Event] = []
    for turn, step in enumerate(steps, 1):
        events.append(said(turn, step.get("reasoning")))
        if not step.get("action"):
            continue
        name, arguments = action_of(step["action"])
        events.append(called(turn, name, arguments))
        if turn < len(steps):
            after = steps[turn]
            error = after.get("last_action_error")
            events.append(answered(turn, name, error or _page(after), error=bool(error)))
    return events


def action_of(action: str) -> tuple[str, dict[str, Any]]:
    """Return tool and arguments of an action, which is written as a call in Python.

    >>> action_of("fill('a12', 'red shoes')")
    ('fill', {'0': 'a12', '1': 'red shoes'})
    >>> action_of("click the button")
    ('act', {'action': 'click the button'})
    """
    try:
        body = ast.parse(action.strip(), mode="eval").body
        if isinstance(body, ast.Call) and isinstance(body.func, ast.Name):
            values = {str(n): ast.literal_eval(value) for n, value in enumerate(body.args)}
            named = {one.arg or "": ast.literal_eval(one.value) for one in body.keywords}
            return body.func.id, values | named
    except (SyntaxError, ValueError):
        pass
    return "act", {"action": action}


def _page(step: Mapping[str, Any]) -> str | None:
    tree = step.get("axtree_pruned") or step.get("axtree")
    return None if tree is None else f"URL: {step.get('url')}\n{tree}"
