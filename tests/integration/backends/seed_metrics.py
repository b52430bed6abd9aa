"""Serves our metrics to Prometheus: the watchdog's by the real exporter, the fleet service's own.

    python seed_metrics.py PORT

Every second something of each kind happens, so that counters rise.
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client import REGISTRY, generate_latest

from otel_watchdog.model import CorrectionOutcome, Mode, Outcome, Suppressed, Tier
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import correction, finding
from otel_watchdog_collector.meters import COUNTERS, Meters


def happen(telemetry, meters, number):
    """Let something of each kind happen."""
    context = trace.set_span_in_context(trace.INVALID_SPAN, Context())
    for tier in Tier:
        for mode in (Mode.OBSERVE, Mode.ENFORCE):
            given = correction(id=f"{number}-{tier}-{mode}", tier=tier, mode=mode)
            telemetry.correct(given, context, {})
            if mode is Mode.ENFORCE:
                for outcome in CorrectionOutcome:
                    heeded = 2 if outcome is CorrectionOutcome.HEEDED else None
                    told = Outcome(correction=given, outcome=outcome, turn=7, turns_to_heed=heeded)
                    telemetry.record(told)
    telemetry.record(finding())
    telemetry.record(Suppressed(finding=finding(), session="s", turn=1, reason="refractory"))
    telemetry.fail("on_end", ValueError("planted"))
    for name in COUNTERS:
        meters.add(name)


def main():
    """Serve until ended."""
    metrics.set_meter_provider(MeterProvider(metric_readers=[PrometheusMetricReader()]))
    telemetry, meters = Telemetry(TracerProvider(), version="1"), Meters()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            body = generate_latest(REGISTRY) + meters.render().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pause, number = threading.Event(), 0
    while True:
        happen(telemetry, meters, number := number + 1)
        pause.wait(1)


main()
