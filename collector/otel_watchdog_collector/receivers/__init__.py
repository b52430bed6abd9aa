"""The doors that OTLP comes in by; that of gRPC, in `otlp_grpc`, is loaded where it is open."""

from otel_watchdog_collector.receivers.door import Door
from otel_watchdog_collector.receivers.otlp_http import OtlpHttpApp
from otel_watchdog_collector.receivers.server import run

__all__ = ["Door", "OtlpHttpApp", "run"]
