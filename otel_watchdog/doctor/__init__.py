"""Says what the watchdog can see, and what to set where it cannot.

For example::

    report = doctor.examine_recording(["trace.json", "trace.logs.json"])
    for remedy in report.remedies:
        print(remedy.setting, "shows", remedy.shows)

`examine` does the same for a tracer provider of this process: who reads its spans, in what order,
which are lost. `Report.as_json` gives the shape that `otel-watchdog doctor --json` prints.
"""

from otel_watchdog.doctor.pipeline import examine
from otel_watchdog.doctor.recording import examine_recording
from otel_watchdog.doctor.report import Calls, Recognised, Remedy, Report

__all__ = ["Calls", "Recognised", "Remedy", "Report", "examine", "examine_recording"]
