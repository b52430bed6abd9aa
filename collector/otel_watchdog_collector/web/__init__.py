"""The pages people look at: server-rendered, live by server-sent events, without a build step."""

from otel_watchdog_collector.web.app import make_web
from otel_watchdog_collector.web.door import PREFIX
from otel_watchdog_collector.web.live import Live
from otel_watchdog_collector.web.parts import Parts

__all__ = ["PREFIX", "Live", "Parts", "make_web"]
