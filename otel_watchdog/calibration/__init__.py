"""Thresholds for a team's own agents, with a bound on how many of its good runs will be warned.

Layers: `bounds` (what can be promised from so many runs) and `levels` (firmer and firmer settings)
→ `trial` (what settings make of runs) → `choice` (the settings that keep the promise) → `written`
(as a file of settings).
"""

from otel_watchdog.calibration.bounds import Promise
from otel_watchdog.calibration.choice import Calibration, calibrate
from otel_watchdog.calibration.trial import GoodRun, read
from otel_watchdog.calibration.written import as_json, as_yaml

__all__ = ["Calibration", "GoodRun", "Promise", "as_json", "as_yaml", "calibrate", "read"]
