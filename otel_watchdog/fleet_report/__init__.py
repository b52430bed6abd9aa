"""What many agents did and what the watchdog said to them: from recorded traces, or a service.

Where a recording holds corrections of ours, they are what counts, with their outcomes; where it
holds none, those that the watchdog would have made do, and the report says so.
"""

from otel_watchdog.fleet_report.facts import AgentFacts, Report
from otel_watchdog.fleet_report.gather import gather
from otel_watchdog.fleet_report.pages import html, markdown
from otel_watchdog.fleet_report.prices import Prices
from otel_watchdog.fleet_report.service import gather_stored

__all__ = [
    "AgentFacts",
    "Prices",
    "Report",
    "gather",
    "gather_stored",
    "html",
    "markdown",
]
