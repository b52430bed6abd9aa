"""Finds turns in which nothing works, one after the other."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import OK, UNKNOWN
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import (
    Finding,
    Kind,
    Observation,
    RunStarted,
    Severity,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from otel_watchdog.progress import Progress


class TurnsWithoutSuccess:
    """Fires when `threshold` turns in a row end without one call that worked and found something.

    A search without a hit is neither an error nor a success; it does not clear. Turns without calls
    and results that were not captured do not count. A new run begins anew.

    Severity is warn: looking for what is not there takes a few turns.

    Known false positive: a careful search through places that are rightly empty.

    Threshold: 4 turns, the rule of a watchdog inside a harness.

    Args:
        threshold: Turns in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_is_counted", "_is_told", "_length", "_open", "_threshold", "_turn")

    name: ClassVar[str] = "turns_without_success"
    watches: ClassVar[tuple[type[Observation], ...]] = (RunStarted, ToolCall, ToolResult)
    needs: ClassVar[tuple[str, ...]] = ("outcomes",)

    def __init__(self, *, threshold: int = 4) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._is_told = False
        self._turn = -1
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        if type(observation) is RunStarted:
            self.restart()
            return None
        if observation.turn != self._turn:
            self._turn = observation.turn
            self._open = 0
            self._is_counted = False
        if type(observation) is ToolCall:
            self._open += 1
            return None
        self._open = max(0, self._open - 1)
        exchange = progress.exchange
        if exchange is not None and not exchange.is_idle:
            self._weigh(exchange.outcome)
        if self._length < self._threshold or self._is_told:
            return None
        self._is_told = True
        return self._finding()

    def _weigh(self, outcome: ToolOutcome) -> None:
        """Count the turn once its last call has ended without success; one success clears."""
        if outcome is OK:
            self._length = 0
            self._is_counted = True
            self._is_told = False
        elif outcome is not UNKNOWN and not self._open and not self._is_counted:
            self._is_counted = True
            self._length += 1

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._length = 0
        self._turn = -1
        self._open = 0
        self._is_counted = False
        self._is_told = False

    def _finding(self) -> Finding:
        times = self._length
        return Finding(
            detector=self.name,
            kind=Kind.FAILURE_STREAK,
            severity=Severity.WARN,
            reason=f"{times} turns in a row ended without a call that worked and found something",
            guidance=(
                f"In your last {times} turns no call has worked and found something. Say what you "
                "take for granted, check that first, and take another way if it does not hold."
            ),
            evidence={"count": times},
        )
