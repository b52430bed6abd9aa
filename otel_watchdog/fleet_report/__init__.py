"""What many agents did and what the watchdog said to them, from recorded traces.

Where a recording holds corrections of ours, they are what counts, with their outcomes; where it
holds none, those that the watchdog would have made do, and the report says so.
"""

from otel_watchdog.fleet_report.facts import AgentFacts, Report
from otel_watchdog.fleet_report.gather import gather
from otel_watchdog.fleet_report.pages import html, markdown

__all__ = ["AgentFacts", "Report", "gather", "html", "markdown"]
