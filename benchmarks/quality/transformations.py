"""The same runs in other surroundings: what is stuck stays stuck, and what is honest stays honest.

Each takes a run and a `random.Random` and returns a run with the same labels; indices of events in
the labels move along where events are put in.
"""

import dataclasses
import json
import random
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.quality.runs import LabelledRun

Event = dict[str, Any]
Transformation = Callable[[LabelledRun, random.Random], LabelledRun]

NOISES: tuple[Callable[[random.Random, str], str], ...] = (
    lambda r, text: f"[request-id={_hex(r)} {_clock(r)}]\n{text}",
    lambda r, text: (
        f"{text}\n(request_id: {uuid.UUID(int=r.getrandbits(128))}, took {r.randint(3, 900)} ms)"
    ),
    lambda r, text: (
        f"{text}\nx-request-id: req_{_hex(r)} at 2026-03-{r.randint(10, 28)}T{_clock(r)}Z"
    ),
)
"""Ways to put a fresh request id and a clock into a result."""


def with_noise(run: LabelledRun, randomness: random.Random) -> LabelledRun:
    """Put a fresh request id and a clock into every result, in one way a run."""
    noise = randomness.choice(NOISES)

    def change(event: Event) -> Event:
        if event["kind"] == "tool_result" and event.get("result") is not None:
            event["result"] = noise(randomness, str(event["result"]))
        return event

    return _each(run, change)


def with_thoughts(run: LabelledRun, randomness: random.Random) -> LabelledRun:
    """Put a call of a tool to think with after every call's result, in its own turn's batch."""
    events: list[Event] = []
    places: list[int] = []
    for number, event in enumerate(run.events):
        places.append(len(events))
        events.append(dict(event))
        following = run.events[number + 1] if number + 1 < len(run.events) else None
        is_last = following is None or following["kind"] != "tool_result"
        if event["kind"] != "tool_result" or not is_last:
            continue
        thought = {
            "kind": "tool_call",
            "turn": event["turn"],
            "name": "think",
            "args": {"thought": f"Step {number}: consider {randomness.randint(100, 999)}"},
            "call_id": f"think-{number}",
            **{key: event[key] for key in ("agent", "run", "t") if event.get(key) is not None},
        }
        events += [thought, {**thought, "kind": "tool_result", "args": None, "result": "ok"}]
    return _moved(run, events, places)


def through_bash(run: LabelledRun, randomness: random.Random) -> LabelledRun:  # noqa: ARG001 - one signature
    """Let every call go through one tool that takes a command line."""

    def change(event: Event) -> Event:
        if event["kind"] == "tool_call":
            arguments = event.get("args")
            event["args"] = None if arguments is None else {"command": _command(event, arguments)}
        if event["kind"] in {"tool_call", "tool_result"}:
            event["name"] = "bash"
        return event

    return _each(run, change)


def with_opaque_tools(run: LabelledRun, randomness: random.Random) -> LabelledRun:  # noqa: ARG001 - one signature
    """Give every tool a name that says nothing."""
    names: dict[str, str] = {}

    def change(event: Event) -> Event:
        name = event.get("name")
        if name:
            event["name"] = names.setdefault(name, f"fn_{len(names):02d}x")
        return event

    return _each(run, change)


FOLDERS = {"src": "lib", "tests": "spec", "docs": "pages", "config": "etc", "app": "core"}
ENDINGS = {".py": ".rb", ".ts": ".kt", ".md": ".rst", ".toml": ".yaml", ".json": ".xml"}


def renamed(run: LabelledRun, randomness: random.Random) -> LabelledRun:
    """Rename folders, endings of files and hosts, everywhere in the run alike."""
    host = f"node{randomness.randint(10, 99)}.internal"

    def change(event: Event) -> Event:
        for key in ("args", "result"):
            if event.get(key) is not None:
                text = json.dumps(event[key], ensure_ascii=False)
                event[key] = json.loads(_renamed(text, host))
        return event

    return _each(run, change)


def without_clock(run: LabelledRun, randomness: random.Random) -> LabelledRun:  # noqa: ARG001 - one signature
    """Take the times away."""
    return _each(run, lambda event: {k: v for k, v in event.items() if k != "t"})


def without_flags(run: LabelledRun, randomness: random.Random) -> LabelledRun:  # noqa: ARG001 - one signature
    """Take away what the trace says of errors; it still stands in the results."""
    return _each(run, lambda event: {**event, "error": None})


def without_results(run: LabelledRun, randomness: random.Random) -> LabelledRun:  # noqa: ARG001 - one signature
    """Take the results away, as where content is not captured."""

    def change(event: Event) -> Event:
        if event["kind"] == "tool_result":
            event["result"] = None
        return event

    return _each(run, change)


def without_call_ids(run: LabelledRun, randomness: random.Random) -> LabelledRun:  # noqa: ARG001 - one signature
    """Take the ids of calls away."""
    return _each(run, lambda event: {k: v for k, v in event.items() if k != "call_id"})


TRANSFORMATIONS: Mapping[str, Transformation] = {
    "request id and clock in every result": with_noise,
    "a think call after every call": with_thoughts,
    "every call through one bash tool": through_bash,
    "opaque tool names": with_opaque_tools,
    "paths, hosts and languages renamed": renamed,
    "no clock": without_clock,
    "no error flags": without_flags,
    "no call ids": without_call_ids,
}
"""All that leave the labels as they are, by what they do."""


def joined(
    runs: Sequence[LabelledRun], randomness: random.Random, *, sessions: int = 60, parts: int = 8
) -> list[LabelledRun]:
    """Join quiet runs into long sessions, with a message of the user between."""
    quiet = [run for run in runs if run.expect == "quiet" and not run.evaluate_from]
    found = []
    for number in range(sessions):
        events: list[Event] = []
        turn = 0
        now = 0.0
        for part in randomness.sample(quiet, parts):
            last, begin = turn, now + 60.0
            for event in part.events:
                kept = {k: v for k, v in event.items() if k not in {"run", "t"}}
                kept["turn"] = last + (event.get("turn") or 0)
                if isinstance(event.get("t"), int | float):
                    kept["t"] = now = max(now, begin + event["t"])
                if kept.get("call_id"):
                    kept["call_id"] = f"{last}-{kept['call_id']}"
                turn = max(turn, kept["turn"])
                events.append(kept)
            events.append(
                {"kind": "user_text", "turn": turn, "result": f"Now do {part.id}, please."}
            )
        found.append(
            LabelledRun(id=f"joined-{number}", group="joined", events=events, expect="quiet")
        )
    return found


def _each(run: LabelledRun, change: Callable[[Event], Event]) -> LabelledRun:
    return dataclasses.replace(run, events=[change(dict(event)) for event in run.events])


def _moved(run: LabelledRun, events: list[Event], places: list[int]) -> LabelledRun:
    """Return a run with more events, its labels moved to where the old ones stand now."""

    def at(place: int | None) -> int | None:
        if place is None:
            return None
        return places[place] if place < len(places) else len(events)

    fire_by = at(run.fire_by)
    return dataclasses.replace(
        run,
        events=events,
        onset=at(run.onset),
        fire_by=None if fire_by is None else fire_by + 2,
        evaluate_from=at(run.evaluate_from) or 0,
    )


def _command(event: Event, arguments: Any) -> str:
    if isinstance(arguments, dict):
        for key in ("command", "cmd"):
            if isinstance(arguments.get(key), str):
                return str(arguments[key])
        words = [f"--{key} {_quoted(value)}" for key, value in arguments.items()]
        return " ".join([str(event["name"]), *words])
    return f"{event['name']} {_quoted(arguments)}"


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if re.fullmatch(r"[\w./:=-]+", text) else "'" + text.replace("'", "'\\''") + "'"


def _renamed(text: str, host: str) -> str:
    for old, new in FOLDERS.items():
        text = re.sub(rf"\b{old}/", f"{new}/", text)
    for old, new in ENDINGS.items():
        text = re.sub(rf"{re.escape(old)}\b", new, text)
    return re.sub(r"https?://[\w.-]+", f"https://{host}", text)


def _hex(randomness: random.Random) -> str:
    return f"{randomness.getrandbits(48):012x}"


def _clock(randomness: random.Random) -> str:
    hour, minute, second = (randomness.randint(0, most) for most in (23, 59, 59))
    return f"{hour:02d}:{minute:02d}:{second:02d}"
