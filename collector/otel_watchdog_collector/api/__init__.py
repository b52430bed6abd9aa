"""The API that people and programs ask: what the agents do, and what the watchdog made of it."""

from otel_watchdog_collector.api.app import Deps, make_api

__all__ = ["Deps", "make_api"]
