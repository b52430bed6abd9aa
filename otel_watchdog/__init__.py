"""Notice when an agent loops, stalls or drifts, and correct it while it runs.

The names below are the whole public API; a module or name that starts with an underscore is not.
Each is imported when it is first asked for: a hook of a coding agent, which runs for every call of
a tool, must not pay for what it does not use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "channels": ("InProcess",),
    "config": ("Profile", "WatchdogConfig"),
    "context": ("ContextExecutor", "carry"),
    "detectors": ("RepeatedToolCall",),
    "engine": ("Watchdog",),
    "errors": ("AgentHalted", "ConfigError", "InputError", "PluginError", "WatchdogError"),
    "installation": ("install",),
    "policies": ("Ladder",),
    "processor": ("WatchdogSpanProcessor", "current"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
"""The module of each public name; of all others, it is `model`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f"{__name__}.{_HOME_OF.get(name, 'model')}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
