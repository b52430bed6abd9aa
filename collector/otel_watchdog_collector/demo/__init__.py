"""`otel-watchdog-collector demo`: twelve agents before a service, and its pages."""

from otel_watchdog_collector.demo.command import demo

__all__ = ["demo"]
