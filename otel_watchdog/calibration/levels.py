"""Settings of growing patience: each detector's thresholds, times a factor, and at last none."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from otel_watchdog import assembly
from otel_watchdog.config import Profile, WatchdogConfig
from otel_watchdog.errors import ConfigError
from otel_watchdog.rules import Options

FACTORS: Final[tuple[float, ...]] = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
"""What thresholds are multiplied by at each level; at the one after the last a detector is off."""

OFF: Final = len(FACTORS)

_ENDING: Final = "threshold"


def thresholds_of(config: WatchdogConfig) -> dict[str, Options]:
    """Return the thresholds of the detectors that settings ask for, by name."""
    return dict(_thresholds(config.profile, orjson.dumps(config.detectors)))


@lru_cache(maxsize=256)
def _thresholds(profile: Profile, detectors: bytes) -> dict[str, Options]:
    return {
        name: {
            option: value
            for option, value in options.items()
            if option.endswith(_ENDING) and isinstance(value, int) and not isinstance(value, bool)
        }
        for name, options in assembly.options_of(_only(profile, orjson.loads(detectors))).items()
    }


def _only(profile: Profile, detectors: dict[str, Any]) -> WatchdogConfig:
    """Return settings of which nothing else decides which detectors there are."""
    return WatchdogConfig().model_copy(update={"profile": profile, "detectors": detectors})


def raised(thresholds: Options, level: int) -> Options:
    """Return thresholds at a level below `OFF`.

    >>> raised({"threshold": 3, "critical_threshold": 5}, 1)
    {'threshold': 4, 'critical_threshold': 7}
    """
    factor = FACTORS[level]
    return {option: math.ceil(value * factor - 1e-9) for option, value in thresholds.items()}


def settings_at(config: WatchdogConfig, levels: Mapping[str, int]) -> WatchdogConfig:
    """Return settings with each detector at its level; one that cannot go there is off.

    Args:
        config: The settings to begin with.
        levels: By detector; those left out are at 0.
    """
    known = thresholds_of(config)
    detectors: dict[str, Any] = dict(config.detectors)
    for name, thresholds in known.items():
        level = levels.get(name, 0)
        if not level:
            continue
        own = detectors.get(name)
        options = dict(own) if isinstance(own, dict) else {}
        detectors[name] = False
        if level < OFF and thresholds:
            wanted = options | raised(thresholds, level)
            if _can_be_made(config.profile, name, orjson.dumps(wanted)):
                detectors[name] = wanted
    return config.model_copy(update={"detectors": detectors})


@lru_cache(maxsize=1024)
def _can_be_made(profile: Profile, name: str, options: bytes) -> bool:
    try:
        assembly.detectors_of(_only(profile, {name: orjson.loads(options)}))
    except ConfigError:
        return False
    return True
