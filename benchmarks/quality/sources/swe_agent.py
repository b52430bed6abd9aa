"""Runs of SWE-agent: a model mends a repository through a shell and an editor.

Whoever evaluates with SWE-agent publishes its `.traj` files, each under a licence of its own; for
submissions to SWE-bench see github.com/SWE-bench/experiments. A file holds `trajectory`, a list of
`{thought, action, observation}`, and `history`, the chat messages. Whether the task was solved
stands where the harness of SWE-bench writes it. Nobody has labelled loops.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.sources.events import Event, answered, called, files, said
from benchmarks.quality.sources.swe_bench import is_solved


def read(path: Path) -> Iterator[LabelledRun]:
    """Yield the run of a `.traj` file, or of all in a folder."""
    for file in files(path, "*.traj"):
        run = json.loads(file.read_text("utf-8"))
        above = file.relative_to(path).parent if file != path else Path()
        yield LabelledRun(
            id=f"{above.as_posix()}/{file.stem}".removeprefix("./"),
            group="swe_agent",
            events=events_of(run["trajectory"], run.get("history", ())),
            expect="unlabelled",
            is_solved=is_solved(file.stem, file),
        )


def events_of(
    steps: Sequence[Mapping[str, Any]], history: Sequence[Mapping[str, Any]]
) -> list[Event]:
    """Return a run's events; each step is a turn.

    Tools are named where the model called them by name, that is, where the history has a message
    of the model for each step; else all is one shell.

    Args:
        steps: The `trajectory`.
        history: The messages.
    """
    answers = [one for one in history if one.get("role") == "assistant" and not one.get("is_demo")]
    told = answers if len(answers) == len(steps) else [{}] * len(steps)
    events: list[Event] = []
    for turn, (step, answer) in enumerate(zip(steps, told, strict=True), 1):
        events.append(said(turn, step.get("thought") or step.get("response")))
        if not step.get("action"):
            continue
        asks = [call["function"] for call in answer.get("tool_calls") or ()]
        name, arguments = "bash", {"command": step["action"]}
        if len(asks) == 1:
            name, arguments = asks[0]["name"], asks[0]["arguments"]
        events.append(called(turn, name, arguments))
        events.append(answered(turn, name, step.get("observation")))
    return events
