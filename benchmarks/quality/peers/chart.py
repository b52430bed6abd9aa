"""Draws what all detectors found and what was false of it, readable on a light and a dark page."""

from collections.abc import Mapping
from html import escape
from typing import Any

from benchmarks.quality.peers.measuring import OURS
from benchmarks.quality.peers.tables import order

NAMES, CELL, BAR, LINE, TOP = 300, 190, 110, 30, 74
FOUND, FALSE = "#2f81f7", "#d9762b"
STYLE = """
text { fill: #3d444d; font-size: 13px }
.ours { font-weight: bold }
.small { font-size: 11px }
.track { fill: #8b949e; fill-opacity: 0.18 }
@media (prefers-color-scheme: dark) { text { fill: #c9d1d9 } }
"""


def draw(report: Mapping[str, Any]) -> str:
    """Return an SVG: a line for each detector with what it found and what was false of it."""
    sets, names = report["sets"], order(report)
    width, height = NAMES + CELL * len(sets) + 8, TOP + LINE * len(names) + 8
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" role="img">'
        ),
        "<title>Stuck runs found, and honest runs disturbed, by detector</title>",
        f"<style>{STYLE}</style>",
        f'<rect x="8" y="14" width="12" height="8" fill="{FOUND}"/>',
        '<text x="26" y="23">share of stuck runs found (more is better)</text>',
        f'<rect x="318" y="14" width="12" height="8" fill="{FALSE}"/>',
        '<text x="336" y="23">share of honest runs disturbed (less is better)</text>',
    ]
    for column, name in enumerate(sets):
        parts.append(f'<text x="{NAMES + CELL * column}" y="56">{escape(name)}</text>')
    for number, name in enumerate(names):
        y = TOP + LINE * number
        mark = ' class="ours"' if name == OURS else ""
        parts.append(f'<text x="8" y="{y + 13}"{mark}>{escape(name)}</text>')
        for column, rows in enumerate(sets.values()):
            one = next((row for row in rows if row["name"] == name), None)
            parts += _cell(one, NAMES + CELL * column, y)
    return "\n".join([*parts, "</svg>", ""])


def _cell(one: Mapping[str, Any] | None, x: int, y: int) -> list[str]:
    if one is None:
        return []
    if one["failure"] is not None:
        return [f'<text x="{x}" y="{y + 13}" class="small">{escape(one["failure"])}</text>']
    parts = []
    bars = ((0, FOUND, "recall"), (10, FALSE, "false_rate"))
    for below, colour, which in bars:
        share = one["spoke"][which]
        parts += [
            f'<rect class="track" x="{x}" y="{y + below}" width="{BAR}" height="8"/>',
            f'<rect x="{x}" y="{y + below}" width="{share * BAR:.1f}" height="8" fill="{colour}"/>',
        ]
    spoke = one["spoke"]
    text = f"{spoke['recall']:.2f} / {spoke['false_rate']:.2f}"
    parts.append(f'<text x="{x + BAR + 4}" y="{y + 13}" class="small">{text}</text>')
    return parts
