"""The API that people and programs ask: what the agents do, and what the watchdog made of it."""

from otel_watchdog_collector.api.app import make_api
from otel_watchdog_collector.api.deps import Deps, FleetControl

__all__ = ["Deps", "FleetControl", "make_api"]
