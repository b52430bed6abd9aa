"""Labelled runs, whatever they come from."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"

MODERN = ("trail", "whowhen", "tau")
"""Opens the sources whose agents are of 2024 and later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRun:
    """A run, and what is to be said of it."""

    id: str
    group: str
    """Family, source or kind: what cross-validation leaves out at once."""
    events: Sequence[Mapping[str, Any]]
    expect: str
    """`fire`, `quiet`, `borderline`, or `unlabelled` where nobody has said."""
    onset: int | None = None
    """Index of the event before which a finding is a false one."""
    fire_by: int | None = None
    """Index of the event by which it has to be found."""
    evaluate_from: int = 0
    """Index of the first event that is judged: before it, a correction had been given."""
    accepts: frozenset[str] = frozenset()
    """Kinds of findings that name the fault; empty: any."""
    is_modern: bool = True
    fire_by_turn: int | None = None
    is_solved: bool | None = None
    """Whether the source says that the task was solved; `None`: it does not say."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_fire(self) -> bool:
        """Whether something is to be found."""
        return self.expect == "fire"


def suite(path: Path = DATA / "suite.jsonl.gz") -> list[LabelledRun]:
    """Return the synthetic runs: each family is one shape of stuck or of honest work."""
    return [
        LabelledRun(
            id=run["id"],
            group=run["family"],
            events=run["events"],
            expect=run["expect"],
            onset=run.get("onset_event"),
        )
        for run in lines(path)
    ]


def cases(folder: Path = DATA / "cases") -> list[LabelledRun]:
    """Return the re-creations of what users have reported."""
    found = []
    for path in sorted(folder.glob("*.json")):
        run = json.loads(path.read_text("utf-8"))
        extra = run["x"]
        found.append(
            LabelledRun(
                id=run["id"],
                group=run["kind"],
                events=run["events"],
                expect=run["expect"],
                onset=extra.get("not_before_event"),
                fire_by=run.get("fire_by_event"),
                evaluate_from=extra.get("evaluate_from") or 0,
                accepts=frozenset([*extra.get("accept_kinds", ()), run["kind"]]),
                extra=extra,
            )
        )
    return found


def corpus(path: Path) -> list[LabelledRun]:
    """Return labelled runs of public sources, one JSON object a line."""
    return [
        LabelledRun(
            id=run["id"],
            group=run["source"],
            events=run["events"],
            expect=run["expect"],
            is_modern=run["source"].startswith(MODERN),
            fire_by_turn=run.get("fire_by_turn"),
        )
        for run in lines(path)
    ]


def lines(path: Path) -> Iterator[Any]:
    """Yield the objects of a file that holds one a line, also gzipped."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
