"""Runs of mini-SWE-agent: a model mends a repository through nothing but a shell.

The submissions to the bash-only board of SWE-bench publish them, see
github.com/SWE-bench/experiments; 500 of a model of late 2025 lie in
github.com/gruckion/mini-swe-agent, folder `swebench_results`, MIT. A `.traj.json` file holds the
chat: a message of the model with one command in a fence, or a call of `bash`; then what came of it,
as `<returncode>` and `<output>`. Whether the task was solved stands where the harness of SWE-bench
writes it. Nobody has labelled loops.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.sources.events import Event, answered, asked, called, files, said
from benchmarks.quality.sources.swe_bench import is_solved

_FENCE: Final = re.compile(r"```(?:mswea_)?bash\w*\s*\n(.*?)\n```", re.DOTALL)
_CODE: Final = re.compile(r"\s*<returncode>(-?\d+)</returncode>\s*")
_FRAME: Final = re.compile(r"\s*<output>\n?(.*?)\n?</output>\s*", re.DOTALL)


def read(path: Path) -> Iterator[LabelledRun]:
    """Yield the run of a `.traj.json` file, or of all in a folder."""
    for file in files(path, "*.traj.json"):
        task = file.name.removesuffix(".traj.json")
        yield LabelledRun(
            id=task,
            group="mini_swe_agent",
            events=events_of(json.loads(file.read_text("utf-8"))["messages"]),
            expect="unlabelled",
            is_solved=is_solved(task, file),
        )


def events_of(messages: Sequence[Mapping[str, Any]]) -> list[Event]:
    """Return a chat as events; each message of the model begins a turn."""
    events: list[Event] = []
    turn = 0
    waits = False
    for message in messages:
        text = _text(message.get("content"))
        if message["role"] == "assistant":
            turn += 1
            events.append(said(turn, text))
            command = _command(message, text)
            waits = command is not None
            if waits:
                events.append(called(turn, "bash", {"command": command}))
        elif waits:
            code, output = outcome_of(text)
            error = None if code is None else code != 0
            events.append(answered(turn, "bash", output, error=error))
            waits = False
        elif message["role"] == "user":
            events.append(asked(turn, text))
    return events


def outcome_of(text: str) -> tuple[int | None, str]:
    r"""Return the code that a command ended with, and what it printed.

    >>> outcome_of("<returncode>1</returncode>\n<output>\nno\n</output>")
    (1, 'no')
    >>> outcome_of("The command timed out.")
    (None, 'The command timed out.')
    """
    found = _CODE.match(text)
    rest = text[found.end() :] if found else text
    output = _FRAME.fullmatch(rest)
    return int(found[1]) if found else None, output[1] if output else rest


def _text(content: Any) -> str:
    """Return a message's text, which may come in parts."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def _command(message: Mapping[str, Any], text: str) -> str | None:
    for call in message.get("tool_calls") or ():
        arguments = json.loads(call["function"]["arguments"])
        return str(arguments.get("command", ""))
    found = _FENCE.findall(text)
    return found[0] if len(found) == 1 else None
