"""What is asked of Tempo."""

from panels import Panel, semconv

_TRACEQL = f'instrumentation:name = "{semconv.SCOPE}"'
_GUARDRAIL = f'{_TRACEQL} && span.{semconv.OPENINFERENCE_SPAN_KIND} = "GUARDRAIL"'

TEMPO: dict[str, list[Panel]] = {
    "Corrections": [
        Panel(
            title="Latest corrections",
            kind="table",
            query=f"{{ {_GUARDRAIL} }}",
        ),
        Panel(
            title="Corrections by tier",
            kind="lines",
            query=f"{{ {_GUARDRAIL} }} | rate() by (span.{semconv.WATCHDOG_TIER_NAME})",
        ),
        Panel(
            title="Corrections that were not heeded",
            kind="table",
            query=f'{{ {_TRACEQL} && span.{semconv.WATCHDOG_OUTCOME} =~ "ignored|relapsed" }}',
        ),
        Panel(
            title="Latest drift checks",
            kind="table",
            query=f'{{ {_TRACEQL} && name = "{semconv.DRIFT_CHECK}" }}',
        ),
    ],
}
"""TraceQL; the query language's own metrics functions draw the rates."""
