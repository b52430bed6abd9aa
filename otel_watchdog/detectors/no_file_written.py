"""Finds a run of many turns in which nothing was written yet."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import ERROR, WRITE
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import (
    Finding,
    Kind,
    ModelTurn,
    Observation,
    RunStarted,
    Severity,
    ToolResult,
)
from otel_watchdog.progress import Progress


class NoFileWritten:
    """Fires when `threshold` turns of a run have passed and no call has changed anything.

    A call changes something by its tool's name or its command; one that failed does not.

    Severity is warn: research ends in an answer, not in a file.

    Known false positive: every task whose product is its answer.

    Threshold: 15 turns, the rule of the 5-tier watchdog.

    Args:
        threshold: Turns without a change that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_is_told", "_is_written", "_since", "_threshold", "_turn")

    name: ClassVar[str] = "no_file_written"
    watches: ClassVar[tuple[type[Observation], ...]] = (RunStarted, ModelTurn, ToolResult)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(self, *, threshold: int = 15) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._turn = 0
        self._since = 0
        self._is_written = False
        self._is_told = False

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        self._turn = observation.turn
        if type(observation) is RunStarted:
            self._since = 0
            self._is_written = self._is_told = False
            return None
        if type(observation) is ToolResult:
            exchange = progress.exchange
            if exchange is not None and exchange.effect is WRITE:
                self._is_written |= exchange.outcome is not ERROR
        if self._is_written or self._is_told or self._turn - self._since < self._threshold:
            return None
        self._is_told = True
        return self._finding()

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._since = self._turn
        self._is_told = False

    def _finding(self) -> Finding:
        turns = self._turn
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"nothing was written in {turns} turns of the run",
            guidance=(
                f"In {turns} turns you have written nothing yet. Take down what you have as a "
                "first version of what is asked for, then go on from there."
            ),
            evidence={"count": turns},
        )
