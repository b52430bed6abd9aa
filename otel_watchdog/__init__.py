"""Notice when an agent loops, stalls or drifts, and correct it while it runs.

The names below are the whole public API; a module or name that starts with an underscore is not.
"""

from otel_watchdog.channels import InProcess
from otel_watchdog.config import Profile, WatchdogConfig
from otel_watchdog.context import ContextExecutor, carry
from otel_watchdog.detectors import RepeatedToolCall
from otel_watchdog.engine import Watchdog
from otel_watchdog.errors import (
    AgentHalted,
    ConfigError,
    InputError,
    PluginError,
    WatchdogError,
)
from otel_watchdog.installation import install
from otel_watchdog.model import (
    Correction,
    CorrectionOutcome,
    Finding,
    Kind,
    Mode,
    ModelTurn,
    Observation,
    Outcome,
    RunEnded,
    RunStarted,
    Severity,
    Suppressed,
    Tier,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.policies import Ladder
from otel_watchdog.processor import WatchdogSpanProcessor, current

__all__ = [
    "AgentHalted",
    "ConfigError",
    "ContextExecutor",
    "Correction",
    "CorrectionOutcome",
    "Finding",
    "InProcess",
    "InputError",
    "Kind",
    "Ladder",
    "Mode",
    "ModelTurn",
    "Observation",
    "Outcome",
    "PluginError",
    "Profile",
    "RepeatedToolCall",
    "RunEnded",
    "RunStarted",
    "Severity",
    "Suppressed",
    "Tier",
    "ToolCall",
    "ToolOutcome",
    "ToolResult",
    "UserMessage",
    "Watchdog",
    "WatchdogConfig",
    "WatchdogError",
    "WatchdogSpanProcessor",
    "carry",
    "current",
    "install",
]
