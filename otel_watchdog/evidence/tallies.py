"""Counts one pattern's evidence by key, in bounded memory, across corrections.

After a correction a detector fires only on what follows, but how long the pattern has gone on
decides how sure it is: an agent that was told and goes on is stuck. An agent that has brought
something new since starts with a clean sheet.
"""

from collections.abc import Hashable
from typing import Final, NamedTuple

from otel_watchdog.errors import ConfigError
from otel_watchdog.evidence.exchanges import Exchange
from otel_watchdog.model import Severity

FRESH: Final = 2
"""Pieces of evidence after a correction without which nothing is said again."""


def check_thresholds(
    detector: str,
    threshold: int,
    critical_threshold: int | None = None,
    *,
    minimum: int = 2,
    option: str = "threshold",
) -> None:
    """Check the thresholds of a detector.

    Args:
        detector: Its name.
        threshold: Times that fire a warning.
        critical_threshold: Times that fire critically; `None`: it never does.
        minimum: The least sensible threshold.
        option: The name of the first option.

    Raises:
        ConfigError: One is too low, or critical comes before the warning.
    """
    if threshold < minimum:
        raise ConfigError(f"{detector}.{option} must be at least {minimum}, got {threshold!r}")
    if critical_threshold is not None and critical_threshold < threshold:
        raise ConfigError(
            f"{detector}.critical_threshold must be at least threshold ({threshold}), "
            f"got {critical_threshold!r}"
        )


class Count:
    """How often one thing has happened."""

    __slots__ = ("at", "corrected", "epoch", "fresh", "news", "told", "total")

    def __init__(self, at: int, epoch: int, news: int) -> None:
        self.total = 1
        self.fresh = 1
        """Since the last correction."""
        self.told: Severity | None = None
        """What was said of it since the last correction."""
        self.corrected = False
        self.at = at
        self.epoch = epoch
        self.news = news

    def due(self, warn: int, critical: int | None = None) -> Severity | None:
        """Say once what is to be said now, and once more if it grows critical.

        Args:
            warn: Times from which it is worth a warning.
            critical: Times from which there is provably no progress; `None`: never.
        """
        fresh = FRESH if self.corrected else 1
        if (
            critical is not None
            and self.total >= critical
            and self.fresh >= fresh
            and self.told is not Severity.CRITICAL
        ):
            self.told = Severity.CRITICAL
            return self.told
        if self.told is None and self.fresh >= warn:
            self.told = Severity.WARN
            return self.told
        return None


class _Mark(NamedTuple):
    """What has happened once."""

    at: int
    epoch: int
    news: int
    corrected: bool = False


ONCE: Final = Count(0, 0, 0)
"""The count of whatever happens for the first time."""


class Tally:
    """The counts of one detector in one session.

    Args:
        max_keys: Things counted at a time; the one seen longest ago is forgotten first.
        window_calls: Calls after which a thing that has not happened again counts anew; 0: never.
    """

    __slots__ = ("_counts", "_max_keys", "_window_calls")

    def __init__(self, *, max_keys: int = 64, window_calls: int = 0) -> None:
        self._max_keys = max_keys
        self._window_calls = window_calls
        self._counts: dict[Hashable, Count | _Mark] = {}

    def add(self, key: Hashable, exchange: Exchange, epoch: int) -> Count:
        """Count `key` once more.

        Most things happen once, so the first time only leaves a mark; do not change what is
        returned before the second.

        Args:
            key: What happened.
            exchange: The call in which it did.
            epoch: Counts of another epoch start anew.
        """
        counts = self._counts
        found = counts.pop(key, None)
        if found is None and len(counts) >= self._max_keys:
            del counts[next(iter(counts))]
        if found is None or self._is_over(found, exchange, epoch):
            counts[key] = _Mark(exchange.number, epoch, exchange.news)
            return ONCE
        count = Count(found.at, epoch, found.news) if isinstance(found, _Mark) else found
        count.total += 1
        count.fresh += 1
        count.at = exchange.number
        if not count.corrected:
            count.news = exchange.news
        counts[key] = count
        return count

    def __contains__(self, key: Hashable) -> bool:
        """Say whether `key` has happened lately."""
        return key in self._counts

    def drop(self, key: Hashable) -> None:
        """Forget one thing."""
        self._counts.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        self._counts.clear()

    def restart(self) -> None:
        """Note that the agent was corrected: only what follows is fresh."""
        for count in self._counts.values():
            if isinstance(count, _Mark):
                continue
            count.fresh = 0
            count.corrected = count.corrected or count.told is not None
            count.told = None

    def _is_over(self, count: "Count | _Mark", exchange: Exchange, epoch: int) -> bool:
        if count.epoch != epoch or (count.corrected and exchange.news > count.news):
            return True
        window = self._window_calls
        return 0 < window < exchange.number - count.at
