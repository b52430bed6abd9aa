"""Serves the watchdog's metrics to Prometheus, by the exporter that people use.

    python seed_metrics.py PORT

Every second a watched agent loops and is corrected, and something of each kind happens beside, so
that counters rise.
"""

import sys
import threading

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client import start_http_server

from otel_watchdog import Profile, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.model import CorrectionOutcome, Mode, Outcome, Suppressed, Tier
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import correction, drift_check, finding, reraise

VERDICTS = ("progressing", "stuck", "done_but_continuing")


def happen(telemetry, number):
    """Let something of each kind happen."""
    context = trace.set_span_in_context(trace.INVALID_SPAN, Context())
    for tier in Tier:
        for mode in (Mode.OBSERVE, Mode.ENFORCE):
            given = correction(id=f"{number}-{tier}-{mode}", tier=tier, mode=mode)
            telemetry.correct(given, context, {})
            if mode is Mode.ENFORCE:
                telemetry.deliver(given)
                for outcome in CorrectionOutcome:
                    heeded = 2 if outcome is CorrectionOutcome.HEEDED else None
                    told = Outcome(correction=given, outcome=outcome, turn=7, turns_to_heed=heeded)
                    telemetry.record(told)
    for verdict in VERDICTS:
        telemetry.check(drift_check(verdict=verdict), context, {})
    telemetry.check(drift_check(verdict="error", error="TimeoutError"), context, {})
    telemetry.skip_check("run_budget")
    telemetry.record(finding())
    telemetry.record(Suppressed(finding=finding(), session="s", turn=1, reason="refractory"))
    telemetry.fail("on_end", ValueError("planted"))


def work(tracer, watchdog, number):
    """Let an agent loop; of two runs, one takes its correction."""
    who = {"gen_ai.agent.name": "fixer", "gen_ai.conversation.id": f"talk-{number}"}

    def span(operation, **more):
        facts = {f"gen_ai.{key.replace('__', '.')}": value for key, value in more.items()}
        at = {"gen_ai.operation.name": operation, **who, **facts}
        return tracer.start_as_current_span(operation, attributes=at)

    with span("invoke_agent"):
        for _ in range(6):
            with span("chat", usage__input_tokens=900, usage__output_tokens=40, usage__cost=0.02):
                pass
            with span("execute_tool", tool__name="ls", tool__call__arguments="{}") as call:
                call.set_attribute("gen_ai.tool.call.result", "a b c")
        if number % 2:
            session = watchdog.find_session(f"talk-{number}", "fixer")
            watchdog.mailbox.acknowledge(watchdog.mailbox.lease(session))


def main():
    """Serve until ended."""
    metrics.set_meter_provider(MeterProvider(metric_readers=[PrometheusMetricReader()]))
    provider = TracerProvider()
    config = WatchdogConfig(profile=Profile.CLASSIC)
    watchdog = WatchdogSpanProcessor(config=config, on_error=reraise)
    provider.add_span_processor(watchdog)
    telemetry = Telemetry(provider, version="1")
    start_http_server(int(sys.argv[1]), addr="127.0.0.1")
    pause, number = threading.Event(), 0
    while True:
        number += 1
        happen(telemetry, number)
        work(provider.get_tracer("pydantic-ai"), watchdog, number)
        pause.wait(1)


if __name__ == "__main__":
    main()
