"""The built-in policies, one a file."""

from otel_watchdog.policies.ask import Ask
from otel_watchdog.policies.base import (
    Attached,
    Audited,
    Decision,
    Policy,
    Responsive,
    Withdrawing,
)
from otel_watchdog.policies.ladder import Ladder
from otel_watchdog.policies.spaced import Spaced

__all__ = [
    "BUILT_IN",
    "Ask",
    "Attached",
    "Audited",
    "Decision",
    "Ladder",
    "Policy",
    "Responsive",
    "Spaced",
    "Withdrawing",
]

BUILT_IN: tuple[type[Policy], ...] = (Ladder, Ask, Spaced)
