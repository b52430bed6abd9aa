"""The Langfuse dashboard, in a neutral form: widgets with their place, and the filters they share.

Langfuse groups by a span's name, level and type and by scores, not by metadata: what is counted by
tier or detector comes from the scores that `LangfuseScores` writes.
"""

from typing import Any

_CORRECTIONS = [
    {"column": "type", "operator": "any of", "type": "stringOptions", "value": ["GUARDRAIL"]},
    {"column": "name", "operator": "starts with", "type": "string", "value": "watchdog-"},
]

_CHECKS = [{"column": "name", "operator": "=", "type": "string", "value": "drift-check"}]


def _named(score: str) -> list[dict[str, Any]]:
    return [{"column": "name", "operator": "=", "type": "string", "value": score}]


def _widget(  # noqa: PLR0913 - each is a part of a widget
    key: str,
    name: str,
    place: tuple[int, int, int, int],
    view: str,
    chart: str,
    metric: tuple[str, str],
    *,
    filters: list[dict[str, Any]],
    by: str = "",
    about: str = "",
) -> dict[str, Any]:
    x, y, width, height = place
    body = {
        "name": f"otel-watchdog: {name}",
        "description": about,
        "view": view,
        "dimensions": [{"field": by}] if by else [],
        "metrics": [{"measure": metric[0], "agg": metric[1]}],
        "filters": filters,
        "chartType": chart,
    }
    return {"key": key, "x": x, "y": y, "width": width, "height": height, "body": body}


_COUNT = ("count", "count")


def board() -> dict[str, Any]:
    """Return the dashboard."""
    return {
        "dashboard": {
            "name": "otel-watchdog",
            "description": "What the watchdog said to agents, and whether it helped.",
            "filters": [],
        },
        "widgets": [
            _widget(
                "corrections",
                "corrections",
                (0, 0, 3, 4),
                "observations",
                "NUMBER",
                _COUNT,
                filters=_CORRECTIONS,
            ),
            _widget(
                "heeded",
                "share that was heeded",
                (3, 0, 3, 4),
                "scores-boolean",
                "NUMBER",
                ("value", "avg"),
                filters=_named("watchdog.heeded"),
            ),
            _widget(
                "turns",
                "turns until it was heeded",
                (6, 0, 3, 4),
                "scores-numeric",
                "NUMBER",
                ("value", "p50"),
                filters=_named("watchdog.turns_to_heed"),
            ),
            _widget(
                "max-tier",
                "highest tier of a trace",
                (9, 0, 3, 4),
                "scores-numeric",
                "HISTOGRAM",
                ("value", "histogram"),
                filters=_named("watchdog.max_tier"),
            ),
            _widget(
                "tiers",
                "corrections by tier",
                (0, 4, 6, 6),
                "scores-categorical",
                "HORIZONTAL_BAR",
                _COUNT,
                filters=_named("watchdog.tier"),
                by="stringValue",
                about="Most should stop at the first tiers.",
            ),
            _widget(
                "detectors",
                "corrections by detector",
                (6, 4, 6, 6),
                "scores-categorical",
                "HORIZONTAL_BAR",
                _COUNT,
                filters=_named("watchdog.detector"),
                by="stringValue",
            ),
            _widget(
                "over-time",
                "corrections over time",
                (0, 10, 6, 6),
                "observations",
                "BAR_TIME_SERIES",
                _COUNT,
                filters=_CORRECTIONS,
                by="level",
            ),
            _widget(
                "traces",
                "corrections by trace name",
                (6, 10, 6, 6),
                "observations",
                "HORIZONTAL_BAR",
                _COUNT,
                filters=_CORRECTIONS,
                by="traceName",
            ),
            _widget(
                "tiers-observed",
                "what would have been said, by tier",
                (0, 16, 6, 6),
                "scores-categorical",
                "HORIZONTAL_BAR",
                _COUNT,
                filters=_named("watchdog.tier-observed"),
                by="stringValue",
            ),
            _widget(
                "false-alarms",
                "share of false alarms",
                (6, 16, 6, 6),
                "scores-boolean",
                "NUMBER",
                ("value", "avg"),
                filters=_named("watchdog.false_alarm"),
                about="Of the corrections that people, or an evaluator, have labelled.",
            ),
            _widget(
                "checks",
                "drift checks over time",
                (0, 22, 6, 6),
                "observations",
                "BAR_TIME_SERIES",
                _COUNT,
                filters=_CHECKS,
                by="level",
                about="WARNING: the judge gave no verdict.",
            ),
            _widget(
                "checks-cost",
                "what drift checks cost",
                (6, 22, 3, 6),
                "observations",
                "NUMBER",
                ("totalCost", "sum"),
                filters=_CHECKS,
            ),
            _widget(
                "checks-latency",
                "how long a drift check takes",
                (9, 22, 3, 6),
                "observations",
                "NUMBER",
                ("latency", "p95"),
                filters=_CHECKS,
            ),
        ],
    }
