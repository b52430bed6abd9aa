"""What goes out by OTLP: correction spans, and what is passed on."""

from otel_watchdog_collector.exporters.correction_span import correction_request, outcome_request
from otel_watchdog_collector.exporters.forwarder import Forwarder

__all__ = ["Forwarder", "correction_request", "outcome_request"]
