"""From requests to corrections: journal, decode, judge, and let the others know."""

from otel_watchdog_collector.pipeline.intake import Full, Intake
from otel_watchdog_collector.pipeline.post import Post
from otel_watchdog_collector.pipeline.tenant import Tenant

__all__ = ["Full", "Intake", "Post", "Tenant"]
