"""A report as Markdown, and as one HTML page without scripts; all names in it are untrusted."""

import html as escaping
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from otel_watchdog.fleet_report.facts import Report
from otel_watchdog.model import Tier

_Table: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[str]]]

BAR_CHARS: Final = 36
"""Length of the longest bar."""

_SHOWN: Final = 10
_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #ddd}"
    ".bar{background:#c2410c;height:.9rem;border-radius:2px}"
)


def figures(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the report's figures, each with its name."""
    heeded, known = report.heeded
    facts = report.as_json()
    yield "agents", f"{facts['agents']}, {facts['corrected_agents']} of them corrected"
    yield "wall-clock", duration(report.wall_clock)
    yield "corrections", str(report.corrections)
    yield "heeded", f"{heeded} of {known} ({heeded / known:.0%})" if known else "not known"
    if report.turns_to_heed is not None:
        yield "turns until heeded", f"{report.turns_to_heed:g} (median)"
    for unit in ("turns", "tokens"):
        before, after = (
            facts[f"{unit}_before_first_correction"],
            facts[f"{unit}_after_first_correction"],
        )
        yield (
            f"{unit} of corrected agents",
            f"{before:,} up to the first correction, {after:,} after it",
        )
    if report.cost is not None:
        before, after = report.cost
        yield (
            "money of corrected agents",
            f"{money(before)} up to the first correction, {money(after)} after it",
        )
    if report.checks:
        yield "drift checks", f"{report.checks}, {money(report.checks_cost)}"
    yield "ended by a limit of turns", str(report.capped)


def bars(report: Report) -> Iterator[tuple[Tier, int, int]]:
    """Yield each tier with its corrections and the length of its bar, in characters."""
    most = max(report.by_tier.values(), default=0) or 1
    for tier, count in report.by_tier.items():
        yield tier, count, round(BAR_CHARS * count / most) or (1 if count else 0)


def duration(seconds: float) -> str:
    """Return a time span for people.

    >>> duration(27_600)
    '7 h 40 min'
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def money(usd: float) -> str:
    """Return an amount for people.

    >>> money(1234.5), money(0.0042)
    ('$1,234.50', '$0.0042')
    """
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.4f}"


def source(report: Report) -> str:
    """Say where the corrections come from, if not from the recordings alone."""
    if not report.would_be:
        return ""
    return (
        f"In {report.would_be} recorded runs no correction was delivered; shown are those that "
        "the watchdog would have made."
    )


def markdown(report: Report) -> str:
    """Return the report as Markdown."""
    parts = ["# Fleet report", ""]
    if source(report):
        parts += [source(report), ""]
    parts += ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in figures(report)), ""]
    parts += ["## Corrections by tier", "", "```text"]
    parts += [
        f"{tier:d} {tier.label:<11}{'#' * bar:<37}{count:>4}" for tier, count, bar in bars(report)
    ]
    parts += ["```", ""]
    for title, head, rows in _tables(report):
        parts += [f"## {title}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        parts += [f"| {' | '.join(_cell(text) for text in row)} |" for row in rows]
        parts.append("")
    return "\n".join(parts)


def html(report: Report) -> str:
    """Return the report as one HTML page."""
    safe = escaping.escape
    rows = "".join(f"<tr><th>{safe(n)}</th><td>{safe(t)}</td></tr>" for n, t in figures(report))
    chart = "".join(
        f"<tr><td>{tier:d} {tier.label}</td><td>{count}</td><td style='width:60%'>"
        f"<div class='bar' style='width:{100 * bar / BAR_CHARS:.0f}%'></div></td></tr>"
        for tier, count, bar in bars(report)
    )
    tables = "".join(
        f"<h2>{safe(title)}</h2><table><tr>{''.join(f'<th>{safe(h)}</th>' for h in head)}</tr>"
        + "".join(f"<tr>{''.join(f'<td>{safe(t)}</td>' for t in row)}</tr>" for row in rows_)
        + "</table>"
        for title, head, rows_ in _tables(report)
    )
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Fleet report</title>"
        f"<style>{_STYLE}</style><h1>Fleet report</h1><p>{safe(source(report))}</p>"
        f"<table>{rows}</table><h2>Corrections by tier</h2><table>{chart}</table>{tables}</html>\n"
    )


def _tables(report: Report) -> Iterator[_Table]:
    drifters = [(a, str(c), Tier(t).label) for a, c, t in report.drifters[:_SHOWN]]
    if drifters:
        yield "Worst drifters", ("agent", "corrections", "highest tier"), drifters
    categories = [(c, str(a), str(n), Tier(t).label) for c, a, n, t in report.by_category[:_SHOWN]]
    if categories:
        head = ("category", "agents", "corrections", "highest tier")
        yield "Worst drifters by category", head, categories
    detectors = [(name, str(count)) for name, count in report.by_detector[:_SHOWN]]
    if detectors:
        yield "Corrections by detector", ("detector", "corrections"), detectors
    outliers = [(one.agent, one.session, str(len(one.tiers))) for one in report.outliers[:_SHOWN]]
    if outliers:
        yield (
            "Many corrections, no deliverable",
            ("agent", "session", "corrections"),
            outliers,
        )


def _cell(text: str) -> str:
    """Return a name in one table cell, with what Markdown or HTML would act on written out."""
    flat = " ".join(escaping.escape(text, quote=False).split())
    return "".join(f"\\{char}" if char in "|`*_[]\\" else char for char in flat)
