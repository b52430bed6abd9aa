"""From requests to corrections: journal, decode, judge, and let the others know."""

from otel_watchdog_collector.pipeline.intake import Intake
from otel_watchdog_collector.pipeline.post import Post
from otel_watchdog_collector.pipeline.tenant import Tenant
from otel_watchdog_collector.pipeline.waiting import Full

__all__ = ["Full", "Intake", "Post", "Tenant"]
