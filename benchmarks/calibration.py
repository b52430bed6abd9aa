"""Whether `otel-watchdog calibrate` keeps its promise on runs that it has not seen.

    python benchmarks/calibration.py [--corpus PATH] [--splits 200]

The healthy runs of each source are parted in two by lot, 200 times. On one half settings are
chosen under a promise with 95 % confidence; on the other it is looked whether it holds.

A promise about the next runs is broken where more of the other half are warned than was promised,
and may be in at most one split in twenty. A promise about all runs is broken where more of the
source's runs are warned than was promised, the source being all there is; its share among the other
half alone is shown, too, which varies more than what is promised.

Without a corpus, the runs are the suite's and the cases' of `benchmarks/quality`, which hold honest
work that looks like a loop. Profile `classic` counts calls and does not ask what came of them: it
warns many good runs, so its promises are hard to keep; `standard` warns hardly any.
"""

import argparse
import io
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from benchmarks.quality.runs import LabelledRun, cases, corpus, suite
from otel_watchdog.calibration import GoodRun, Promise, calibrate, read
from otel_watchdog.calibration.bounds import most_allowed
from otel_watchdog.calibration.trial import Tried
from otel_watchdog.config import WatchdogConfig

PROFILES = ("standard", "classic")
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
CONFIDENCE = 0.95
MIN_RUNS = 12


@dataclass(slots=True)
class Remembered:
    """A good run that remembers what settings make of it: 200 splits ask the same again."""

    run: GoodRun
    known: dict[bytes, Tried] = field(default_factory=dict)

    @property
    def first(self) -> Tried:
        return self.run.first

    @property
    def observations(self) -> Sequence[Any]:
        return self.run.observations

    def at(self, config: WatchdogConfig) -> Tried:
        key = orjson.dumps([config.detectors, config.critical_limit])
        if key not in self.known:
            self.known[key] = self.run.at(config)
        return self.known[key]


def good_runs(runs: Sequence[LabelledRun], config: WatchdogConfig) -> list[Remembered]:
    """Return the healthy ones of labelled runs, tried once."""
    lines = [
        json.dumps({"id": f"{i}", "events": list(run.events)})
        for i, run in enumerate(runs)
        if run.expect == "quiet" and not run.evaluate_from
    ]
    if not lines:
        return []
    return [Remembered(run) for run in read(io.BytesIO("\n".join(lines).encode()), config)]


def coverage(
    runs: Sequence[Remembered], config: WatchdogConfig, share: float, splits: int, *, ahead: bool
) -> dict[str, Any]:
    """Return how a promise fares over random splits.

    Args:
        runs: Healthy ones of one source.
        config: The settings to begin with.
        share: What is promised.
        splits: How many.
        ahead: Whether it is promised of the other half, rather than of all runs.
    """
    randomness = random.Random(11)  # noqa: S311 - the same splits each time
    given = broken = broken_there = unchanged = 0
    warned: list[float] = []
    for _ in range(splits):
        drawn = list(runs)
        randomness.shuffle(drawn)
        half = len(drawn) // 2
        seen, unseen = drawn[:half], drawn[half:]
        promise = Promise(
            warned=share, confidence=CONFIDENCE, next_runs=len(unseen) if ahead else None
        )
        made = calibrate(seen, config, promise)  # type: ignore[arg-type]
        if made.config is None:
            continue
        given += 1
        unchanged += not any(made.levels.values())
        there = sum(bool(run.at(made.config).warned) for run in unseen)
        everywhere = there + sum(bool(run.at(made.config).warned) for run in seen)
        warned.append(there / len(unseen))
        broken_there += there > math.floor(share * len(unseen) + 1e-9)
        broken += everywhere > share * len(drawn)
    return {
        "promised": share,
        "of": "the other half" if ahead else "all runs",
        "given": given / splits,
        "broken": (broken_there if ahead else broken) / splits,
        "above_in_other_half": broken_there / splits,
        "warned_in_other_half": sum(warned) / len(warned) if warned else None,
        "as_begun": unchanged / splits,
    }


def report(sources: dict[str, list[LabelledRun]], splits: int) -> list[dict[str, Any]]:
    told = []
    for profile in PROFILES:
        config = WatchdogConfig.load(profile=profile, min_turns=0)
        for name, labelled in sources.items():
            runs = good_runs(labelled, config)
            if len(runs) < MIN_RUNS:
                continue
            half = len(runs) // 2
            begun = sum(bool(run.first.warned) for run in runs) / len(runs)
            for ahead in (False, True):
                following = len(runs) - half if ahead else None
                able = [
                    s for s in SHARES if most_allowed(half, s, CONFIDENCE, following) is not None
                ]
                told += [
                    {
                        "profile": profile,
                        "source": name,
                        "runs": len(runs),
                        "warned_as_begun": begun,
                    }
                    | coverage(runs, config, share, splits, ahead=ahead)
                    for share in able[:2]
                ]
    return told


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, help="labelled runs, one JSON object a line")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    sources: dict[str, list[LabelledRun]] = {"suite and cases": [*suite(), *cases()]}
    if options.corpus:
        runs = corpus(options.corpus)
        for name in sorted({run.group for run in runs}):
            sources[name] = [run for run in runs if run.group == name]
        sources["corpus"] = runs
    told = report(sources, options.splits)
    if options.json:
        print(json.dumps(told, indent=2))  # noqa: T201 - its output
        return
    print(  # noqa: T201 - its output
        f"{'profile':9} {'source':16} {'runs':>4} {'as begun':>8}  {'promised':>8} {'of':14} "
        f"{'given':>6} {'broken':>6} {'above in the other half':>23} {'warned there':>12}"
    )
    for one in told:
        there = one["warned_in_other_half"]
        shown = "-" if there is None else f"{there:.4f}"
        print(  # noqa: T201 - its output
            f"{one['profile']:9} {one['source']:16} {one['runs']:4} {one['warned_as_begun']:8.3f}  "
            f"{one['promised']:8.2f} {one['of']:14} {one['given']:6.3f} {one['broken']:6.3f} "
            f"{one['above_in_other_half']:23.3f} {shown:>12}"
        )
    worst = max(one["broken"] for one in told)
    print(f"broken most often: {worst:.3f} of splits; {1 - CONFIDENCE:.2f} are allowed")  # noqa: T201


if __name__ == "__main__":
    main()
