"""Prints what all detectors made of the runs, as Markdown tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.quality.peers.measuring import OURS

Told = Mapping[str, Any]


def lines(report: Told) -> list[str]:
    """Return a table for each set of runs, and one for all."""
    found = []
    for name, rows in report["sets"].items():
        found += ["", f"### {name}: {_size(rows)}", "", *_full(rows)]
    return [*found, "", f"### all, {report['date']}", "", *summary(report)]


def summary(report: Told) -> list[str]:
    """Return one row a detector: what it found and what was false of it, in each set."""
    sets = report["sets"]
    heads = ["detector", "version", *sets, *(f"{name}, halts" for name in sets)]
    found = _head(heads)
    for name in order(report):
        rows = [next((one for one in rows if one["name"] == name), None) for rows in sets.values()]
        known = [one for one in rows if one is not None]
        title = f"**{name}**" if name == OURS else name
        cells = [_share(one, grade) for grade in ("spoke", "halted") for one in rows]
        versions = ", ".join(dict.fromkeys(one["version"] for one in known))
        found.append("| " + " | ".join([title, versions, *cells]) + " |")
    notes = [
        f"{name}, {one['name']}: {_note(one)}"
        for name, rows in sets.items()
        for one in rows
        if _note(one)
    ]
    return [*found, "", *notes] if notes else found


def order(report: Told) -> list[str]:
    """Return the names of all rows, the best F1 over the sets first, what failed last."""
    by_name: dict[str, list[float]] = {}
    for rows in report["sets"].values():
        for one in rows:
            f1 = one["spoke"]["f1"] if one["failure"] is None else -1.0
            by_name.setdefault(one["name"], []).append(0.0 if math.isnan(f1) else f1)
    return sorted(by_name, key=lambda name: -sum(by_name[name]) / len(by_name[name]))


def _full(rows: Sequence[Told]) -> list[str]:
    heads = ["detector", "version", "found", "false", "precision", "F1", "early", "delay in turns"]
    found = _head([*heads, "found by halts", "false halts", "crashed"])
    for one in sorted(rows, key=lambda one: -one["spoke"]["f1"] if one["failure"] is None else 1):
        cells = [one["name"], one["version"], *_cells(one)]
        found.append("| " + " | ".join(cells) + " |")
    return found


def _cells(one: Told) -> list[str]:
    if one["failure"] is not None:
        return [one["failure"], *[""] * 8]
    spoke, halted = one["spoke"], one["halted"]
    delay = spoke["delay_median_turns"]
    return [
        _with_interval(spoke, "recall"),
        _with_interval(spoke, "false_rate"),
        f"{spoke['precision']:.2f}",
        f"{spoke['f1']:.2f}",
        str(spoke["early"]),
        "-" if delay is None else f"{delay:g}",
        _with_interval(halted, "recall"),
        _with_interval(halted, "false_rate"),
        str(len(one["crashes"])),
    ]


def _with_interval(figures: Told, which: str) -> str:
    interval = figures[f"{which}_interval"]
    if interval is None:
        return "-"
    return f"{figures[which]:.2f} [{interval[0]:.2f}-{interval[1]:.2f}]"


def _share(one: Told | None, grade: str) -> str:
    if one is None or one["failure"] is not None:
        return "-" if one is None else one["failure"]
    figures = one[grade]
    mark = "*" if one["crashes"] else ""
    return f"{figures['recall']:.2f} / {figures['false_rate']:.2f}{mark}"


def _note(one: Told) -> str:
    if one["crashes"]:
        return f"\\* crashed on {len(one['crashes'])} runs, first {one['crashes'][0]}"
    return ""


def _size(rows: Sequence[Told]) -> str:
    spoke = next(one["spoke"] for one in rows if one["failure"] is None)
    return f"{spoke['fires']} runs to be found, {spoke['quiets']} to be left alone"


def _head(heads: Sequence[str]) -> list[str]:
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
