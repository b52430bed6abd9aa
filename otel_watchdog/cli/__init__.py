"""The command `otel-watchdog`."""

from otel_watchdog.cli.app import main

__all__ = ["main"]
