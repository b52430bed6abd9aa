"""The pages people look at: server-rendered, live by server-sent events, without a build step."""

from otel_watchdog_collector.web.live import Live
from otel_watchdog_collector.web.parts import PREFIX, Parts

__all__ = ["PREFIX", "Live", "Parts"]
