"""What agents share that run in processes of their own and know a fleet service alone.

Each makes the same tool call until it is told not to, and some others then.
"""

import json
import sys
import threading
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from otel_watchdog import Mode, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.channels.http_stream import HttpStream
from otel_watchdog.testing import reraise
from otel_watchdog.transport.web import Address

MARKER = "[watchdog]"
MAX_TURNS = 30
SECONDS = 20
FILES = {
    "main.py": "from shop import checkout",
    "other_1.py": "def checkout(basket): return pay(basket.total())",
    "other_2.py": "class Basket: tax = 0.19",
    "other_3.py": "raise RuntimeError('no card on file')",
    "other_4.py": "CURRENCY = 'EUR'",
}
OTHERS = len(FILES) - 1
"""Other files that an agent looks at once it was told."""


def look(at: str) -> str:
    """Look at a file."""
    return FILES[at]


class Pause(SpanProcessor):
    """The while that a real model takes: what the service has decided by now is here after it."""

    def __init__(self, url, watchdog):
        self._api = Address(url, setting="url")
        self._arrived = threading.Semaphore(0)
        self._known = 0
        self.trace_id = 0
        self._send = watchdog.mailbox.send
        watchdog.mailbox.send = self._take

    def on_end(self, span):
        """Wait for as many corrections as the service has made."""
        self.trace_id = span.context.trace_id
        connection = self._api.connection(SECONDS)
        connection.request("GET", f"/v1/feedback/{self.trace_id:032x}")
        made = len(json.loads(connection.getresponse().read())["corrections"])
        connection.close()
        while self._known < made:
            assert self._arrived.acquire(timeout=SECONDS), "a correction did not arrive"
            self._known += 1

    def _take(self, correction):
        self._send(correction)
        self._arrived.release()


@contextmanager
def watched(service_url, name):
    """Trace to the service alone, and be corrected by it alone; yield provider and watchdog.

    Printed at the end is the id of the trace.
    """
    watchdog = WatchdogSpanProcessor(
        config=WatchdogConfig(mode=Mode.FEEDBACK),
        detectors=[],
        channels=[HttpStream(service_url)],
        on_error=reraise,
    )
    resource = Resource({"service.name": name, "openinference.project.name": name})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(watchdog)
    exporter = OTLPSpanExporter(f"{service_url}/v1/traces")
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    pause = Pause(service_url, watchdog)
    provider.add_span_processor(pause)
    trace.set_tracer_provider(provider)
    yield provider, watchdog
    provider.shutdown()
    sys.stdout.write(f"\n{pause.trace_id:032x}\n")
