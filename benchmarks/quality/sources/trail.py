"""Runs of TRAIL: traces of two smolagents that answer questions of GAIA and mend repositories.

Published in github.com/patronus-ai/trail-benchmark, folder `benchmarking`, MIT: a tree of spans a
file in `data/<split>`, and people's remarks on it in `processed_annotations_<split>`, as
`{errors: [{category, location, impact}]}`. To be found is what they call resource abuse, which is
needless repetition as a rule, of medium or high impact; of low impact it is borderline. Other
readers found a good half of these remarks to be about a loop, so that neither recall nor precision
can come near 1 here; and a run that nobody remarked upon may still hold one.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.sources.events import files
from benchmarks.quality.sources.spans import events_of, spans_of

_ABUSE: Final = "resource abuse"
_ANNOTATIONS: Final = "processed_annotations_*"


def read(path: Path) -> Iterator[LabelledRun]:
    """Yield the runs of the folder that holds data and annotations, or of one above it."""
    remarks = {file.name: file for file in path.rglob(f"{_ANNOTATIONS}/*.json")}
    for file in files(path, "data/*/*.json"):
        if file.name in remarks:
            trace = json.loads(file.read_text("utf-8"))
            said = json.loads(remarks[file.name].read_text("utf-8"))
            yield _run(trace, said, file.parent.name)


def _run(trace: Mapping[str, Any], said: Mapping[str, Any], split: str) -> LabelledRun:
    spans = list(spans_of(trace["spans"]))
    events, turns = events_of(spans)
    abuses = [one for one in said["errors"] if one["category"].strip().lower() == _ABUSE]
    serious = [one for one in abuses if one["impact"].strip().upper() != "LOW"]
    expect = "fire" if serious else "borderline" if abuses else "quiet"
    places = [turns.get(one["location"]) for one in serious]
    return LabelledRun(
        id=trace["trace_id"],
        group=f"trail {split}",
        events=events,
        expect=expect,
        fire_by_turn=min((turn for turn in places if turn is not None), default=None),
    )
