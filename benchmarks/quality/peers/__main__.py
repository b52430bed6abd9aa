"""Prints how often other detectors are right beside ours, on the same runs.

    python -m benchmarks.quality.peers [--corpus PATH] [--json] [--chart FILE]

`make bench-peers` installs them first, each in an environment of its own. The sets of runs, and
what counts as found, false and early, are those of `python -m benchmarks.quality`. Speaking is a
warning or more, of ours a correction; halting is what ends a run, refuses a call or hands it to a
person, of ours a critical finding. A detector that cannot be had, dies or crashes on a run is told
as such.
"""

import argparse
import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.quality.peers import chart, tables
from benchmarks.quality.peers.measuring import measure
from benchmarks.quality.runs import cases, corpus, suite

MODERN = "corpus since 2024"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--corpus", type=Path, help="labelled runs, one JSON object a line")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--chart", type=Path, help="write a chart as SVG")
    options = parser.parse_args()
    report = measured(options.corpus)
    if options.chart:
        options.chart.parent.mkdir(parents=True, exist_ok=True)
        options.chart.write_text(chart.draw(report), "utf-8")
    if options.json:
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(tables.lines(report)) + "\n")


def measured(path: Path | None) -> dict[str, Any]:
    """Return the figures of all detectors on each set of runs.

    Args:
        path: Of labelled runs beside the suite and the cases.
    """
    rows = {"suite": measure(suite()), "cases": measure(cases())}
    if path:
        rows["corpus"] = measure(corpus(path))
        rows[MODERN] = [row.only(lambda run: run.is_modern) for row in rows["corpus"]]
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "sets": {name: [row.as_json() for row in found] for name, found in rows.items()},
    }


if __name__ == "__main__":
    main()
