"""Runs of tau-bench: a model serves a simulated customer of an airline or a shop.

Published in github.com/sierra-research/tau-bench, folder `historical_trajectories`, MIT: lists of
`{task_id, trial, reward, traj}`, the last being chat messages. The reward is 1 where the data base
is in the end as it was to be. Nobody has labelled loops.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.sources.events import Event, answered, asked, called, files, said


def read(path: Path) -> Iterator[LabelledRun]:
    """Yield the runs of a results file, or of all in a folder."""
    for file in files(path, "*.json"):
        for run in json.loads(file.read_text("utf-8")):
            if "traj" not in run:
                break
            yield LabelledRun(
                id=f"{file.stem}:{run['task_id']}-{run.get('trial', 0)}",
                group=f"tau_bench {file.stem}",
                events=events_of(run["traj"]),
                expect="unlabelled",
                is_solved=run["reward"] >= 1,
            )


def events_of(messages: Sequence[Mapping[str, Any]]) -> list[Event]:
    """Return chat messages as events; each of the assistant begins a turn."""
    events: list[Event] = []
    turn = 0
    for message in messages:
        role = message["role"]
        if role == "assistant":
            turn += 1
            events.append(said(turn, message.get("content")))
            for call in message.get("tool_calls") or ():
                asks = call["function"]
                events.append(called(turn, asks["name"], asks["arguments"], call.get("id")))
        elif role == "tool":
            name, call_id = message.get("name"), message.get("tool_call_id")
            events.append(answered(turn, name, message.get("content"), call_id))
        elif role == "user":
            events.append(asked(turn, message.get("content")))
    return events
