"""Draws what one threshold more or less would give: recall against false alarms."""

from html import escape
from typing import Any

WIDTH, HEIGHT, MARGIN = 640, 420, 56
MAX_FALSE = 0.10
MIN_RECALL = 0.75
COLOURS = {"suite": "#1b6ca8", "cases": "#2e8b57", "corpus": "#b3541e"}


def draw(report: dict[str, Any]) -> str:
    """Return an SVG with a point for each neighbour of a threshold, by set of runs."""
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        '<text x="8" y="24">Recall and false alarms, one threshold changed a point</text>',
    ]
    for step in range(6):
        share = MAX_FALSE * step / 5
        parts.append(f'<text x="{_x(share):.0f}" y="{HEIGHT - 30}">{share:.2f}</text>')
        recall = MIN_RECALL + (1 - MIN_RECALL) * step / 5
        parts.append(f'<text x="8" y="{_y(recall):.0f}">{recall:.2f}</text>')
    for number, (name, colour) in enumerate(COLOURS.items()):
        if "neighbours" not in report.get(name, {}):
            continue
        parts.append(f'<text x="{WIDTH - 90}" y="{60 + 18 * number}" fill="{colour}">{name}</text>')
        for which, figures in report[name]["neighbours"].items():
            radius = 6 if which == "as shipped" else 3
            parts.append(
                f'<circle cx="{_x(figures["false_rate"]):.1f}" cy="{_y(figures["recall"]):.1f}" '
                f'r="{radius}" fill="{colour}" fill-opacity="0.6">'
                f"<title>{escape(name)}: {escape(which)}</title></circle>"
            )
    return "\n".join([*parts, "</svg>", ""])


def _x(false_rate: float) -> float:
    return MARGIN + min(false_rate, MAX_FALSE) / MAX_FALSE * (WIDTH - 2 * MARGIN)


def _y(recall: float) -> float:
    share = (max(recall, MIN_RECALL) - MIN_RECALL) / (1 - MIN_RECALL)
    return HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN)
