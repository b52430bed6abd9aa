"""The one place of the service that reads the time of day."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

WallClock: TypeAlias = Callable[[], float]
"""Returns seconds since the epoch; may be set back by whoever keeps the machine's time."""


def system_wall_clock() -> float:
    """Return the machine's time, in seconds since the epoch."""
    return datetime.now(tz=UTC).timestamp()
