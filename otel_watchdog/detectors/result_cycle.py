"""Finds a few calls that go round and round, each bringing back what it brought before."""

from collections.abc import Sequence
from typing import ClassVar, Final

from otel_watchdog.evidence.exchanges import SERVER, Exchange
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MIN_PERIOD: Final = 2

_Key = tuple[str, int] | None


class ResultCycle:
    """Fires when 2 to `max_period` calls have gone round `threshold` times with the same results.

    A lap of two must go round once more than longer ones: reading one thing, then another, then
    both again happens. Waiting and thinking are passed over. A lap that asks for a status must go
    round five times, one that takes `spaced_seconds` six; a lap with something new breaks it.

    Severity is warn, and critical from `critical_threshold` laps on, but not for laps that poll.

    Known false positive: two views that a person asked to be compared, again and again.

    Thresholds: 2 laps of three calls or more find 12 more stuck runs of the suite than 3; no
    healthy run has gone round twice with nothing changed. Periods above 6 find nothing more.

    Args:
        threshold: Laps that fire, at least 2; one more for laps of two calls.
        critical_threshold: Laps that are critical.
        max_period: Calls of the longest lap, at least 2.
        spaced_seconds: Seconds a lap takes that make it patient.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = (
        "_corrected",
        "_critical_threshold",
        "_era",
        "_fresh",
        "_keys",
        "_max_calls",
        "_max_period",
        "_polls",
        "_spaced_seconds",
        "_threshold",
        "_told",
    )

    name: ClassVar[str] = "result_cycle"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(
        self,
        *,
        threshold: int = 2,
        critical_threshold: int = 4,
        max_period: int = 6,
        spaced_seconds: float = 60.0,
    ) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        check_thresholds(self.name, max_period, option="max_period")
        self._threshold = threshold
        self._critical_threshold = critical_threshold
        self._max_period = max_period
        self._spaced_seconds = spaced_seconds
        self._max_calls = max_period * (2 * critical_threshold)
        self._era = 0
        self._keys: list[_Key] = []
        self._polls: list[bool] = []
        self._fresh = 0
        self._corrected = False
        self._told: tuple[frozenset[_Key], Severity] | None = None

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or exchange.is_idle:
            return None
        keys, polls = self._keys, self._polls
        if exchange.era != self._era:
            self._era = exchange.era
            keys.clear()
            polls.clear()
        keys.append(exchange.pair)
        polls.append(exchange.is_poll)
        self._fresh += 1
        if len(keys) > 2 * self._max_calls:
            del keys[: self._max_calls]
            del polls[: self._max_calls]
        return None if exchange.is_new else self._judge(exchange)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._fresh = 0
        self._corrected = True
        self._told = None

    def _judge(self, exchange: Exchange) -> Finding | None:
        keys = self._keys
        size = len(keys)
        last = keys[-1]
        if last is None:
            return None
        for period in range(MIN_PERIOD, min(self._max_period, size // 2) + 1):
            if keys[-1 - period] != last:
                continue
            laps = laps_of(keys, period)
            if laps >= self._threshold + (period == MIN_PERIOD):
                return self._at(exchange, period, laps)
        return None

    def _at(self, exchange: Exchange, period: int, laps: int) -> Finding | None:
        polls = any(self._polls[-period:])
        spaced = exchange.gap is not None and exchange.gap >= self._spaced_seconds
        if (polls and laps < 5) or (spaced and laps < 6):  # noqa: PLR2004 - see the class
            return None
        may_be_critical = not polls and not spaced and exchange.trouble is not SERVER
        is_critical = laps >= self._critical_threshold and may_be_critical
        severity = Severity.CRITICAL if is_critical else Severity.WARN
        lap = frozenset(self._keys[-period:])
        if self._told in {(lap, severity), (lap, Severity.CRITICAL)}:
            return None
        if self._corrected and self._fresh < period * (1 if is_critical else self._threshold):
            return None
        self._told = (lap, severity)
        return self._finding(exchange, period, laps, severity)

    def _finding(self, exchange: Exchange, period: int, laps: int, severity: Severity) -> Finding:
        names = [key[0].partition("\0")[0] for key in self._keys[-period:] if key is not None]
        lap = shortened(" → ".join(names))
        return Finding(
            detector=self.name,
            kind=Kind.CYCLE,
            severity=severity,
            reason=f"{lap} went round {laps} times, each call with the result of the lap before",
            guidance=(
                f"You have gone round {laps} times through {lap}, and each call brought what it "
                "had brought before. Another lap will bring the same: use what you know, "
                "or leave the circle with a step that you have not taken yet."
            ),
            evidence={"lap": lap, "count": laps, "period": period, "tool": exchange.tool},
        )


def laps_of(keys: Sequence[_Key], period: int) -> int:
    """Return how many whole laps of a period end a sequence; 1 is none.

    >>> laps_of([("a", 1), ("b", 1), ("a", 1), ("b", 1)], 2)
    2
    """
    size = len(keys)
    tail = keys[-period:]
    if size < 2 * period or None in tail or len(set(tail)) < MIN_PERIOD:
        return 1
    for part in range(MIN_PERIOD, period):
        if period % part == 0 and all(tail[i] == tail[i % part] for i in range(period)):
            return 1
    same = 0
    while same < size - period and keys[size - 1 - same] == keys[size - 1 - same - period]:
        same += 1
    return 1 + same // period
