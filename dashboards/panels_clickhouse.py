"""What is asked of the Collector's tables in ClickHouse."""

from panels import Panel, semconv


def _attribute(name: str) -> str:
    return f"SpanAttributes['{name}']"


_SPANS = f"otel_traces WHERE $__timeFilter(Timestamp) AND ScopeName = '{semconv.SCOPE}'"
_CORRECTION = f"{_SPANS} AND SpanName LIKE 'watchdog-%-turn-%' AND {_attribute(semconv.WATCHDOG_OUTCOME)} = ''"
_CORRECTION_GIVEN = f"{_CORRECTION} AND {_attribute(semconv.WATCHDOG_MODE)} != 'observe'"
_OUTCOME = f"{_SPANS} AND {_attribute(semconv.WATCHDOG_OUTCOME)} != ''"


def _count(where: str, by: str) -> str:
    name = _attribute(by)
    return f"SELECT {name} AS name, count() AS corrections FROM {where} GROUP BY name ORDER BY corrections DESC LIMIT 20"


CLICKHOUSE: dict[str, list[Panel]] = {
    "Corrections": [
        Panel(title="Corrections", kind="stat", query=f"SELECT count() FROM {_CORRECTION_GIVEN}"),
        Panel(
            title="Distribution over tiers",
            kind="table",
            query=_count(_CORRECTION_GIVEN, semconv.WATCHDOG_TIER_NAME),
        ),
        Panel(
            title="Corrections by detector",
            kind="table",
            query=_count(_CORRECTION_GIVEN, semconv.WATCHDOG_DETECTOR_NAME),
        ),
        Panel(
            title="Most corrected agents",
            kind="table",
            query=_count(_CORRECTION_GIVEN, semconv.GEN_AI_AGENT_NAME),
        ),
    ],
    "Drift check": [
        Panel(
            title="Verdicts and cost",
            kind="table",
            query=(
                f"SELECT {_attribute(semconv.WATCHDOG_VERDICT)} AS name, count() AS checks, "
                f"sum(toFloat64OrZero({_attribute(semconv.GEN_AI_USAGE_COST)})) AS usd "
                f"FROM {_SPANS} AND SpanName = '{semconv.DRIFT_CHECK}' GROUP BY name"
            ),
        ),
    ],
    "Did it help": [
        Panel(title="Outcomes", kind="table", query=_count(_OUTCOME, semconv.WATCHDOG_OUTCOME)),
        Panel(
            title="Latest corrections",
            kind="table",
            query=(
                "SELECT Timestamp, TraceId, SpanName, "
                f"{_attribute(semconv.GEN_AI_EVALUATION_EXPLANATION)} AS reason, "
                f"{_attribute(semconv.OUTPUT_VALUE)} AS message "
                f"FROM {_CORRECTION} ORDER BY Timestamp DESC LIMIT 50"
            ),
        ),
    ],
}
"""Over the `otel_traces` table of the OpenTelemetry Collector's ClickHouse exporter."""
