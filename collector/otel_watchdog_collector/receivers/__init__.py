"""The doors that OTLP comes in by."""

from otel_watchdog_collector.receivers.door import Door
from otel_watchdog_collector.receivers.otlp_grpc import GrpcReceiver
from otel_watchdog_collector.receivers.otlp_http import OtlpHttpApp
from otel_watchdog_collector.receivers.server import run

__all__ = ["Door", "GrpcReceiver", "OtlpHttpApp", "run"]
