"""Runs of InterCode: a model types commands into a shell, a data base or an interpreter.

Published in github.com/princeton-nlp/intercode, folder `data/results`, MIT: objects of
`{environment, query, turn_history: {actions, observations, valid_action}, summary}` by task. The
best reward of a run is 1 where the task was solved. Nobody has labelled loops; the models are of
2023 and were given 7 to 10 turns.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.sources.events import Event, answered, asked, called, files

_TOOLS: Final = {
    "ic_sql": ("execute_sql", "query"),
    "ic_python": ("python", "code"),
}
"""Tool and argument by environment; the others are shells."""


def read(path: Path) -> Iterator[LabelledRun]:
    """Yield the runs of a results file, or of all in a folder."""
    for file in files(path, "ic_*.json"):
        runs = json.loads(file.read_text("utf-8"))
        for number, run in runs.items() if isinstance(runs, dict) else ():
            if "actions" in run.get("turn_history", {}):
                yield LabelledRun(
                    id=f"{file.stem}:{number}",
                    group=f"intercode {run['environment']}",
                    events=events_of(run),
                    expect="unlabelled",
                    is_modern=False,
                    is_solved=run["summary"]["max_reward"] >= 1,
                )


def events_of(run: Mapping[str, Any]) -> list[Event]:
    """Return a run's events; each action is a turn."""
    tool, argument = _TOOLS.get(run["environment"], ("bash", "command"))
    history = run["turn_history"]
    actions = history["actions"]
    valid = history.get("valid_action") or [True] * len(actions)
    events = [asked(0, run["query"])]
    for turn, (action, observation, is_valid) in enumerate(
        zip(actions, history["observations"], valid, strict=False), 1
    ):
        events.append(called(turn, tool, {argument: action}))
        events.append(answered(turn, tool, observation, error=None if is_valid else True))
    return events
