"""Finds a server or model provider that refuses one call after the other."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import ERROR, SERVER, UNKNOWN, Exchange
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import (
    Finding,
    Kind,
    ModelTurn,
    Observation,
    Severity,
    ToolResult,
)
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened


class ProviderFailure:
    """Fires when `threshold` calls in a row are refused by an overloaded or unreachable server.

    Told are 429, 502 to 504, rate limits, refused and reset connections; an endless 500 is an error
    like any other. Waiting and thinking in between clear nothing, any other result does, and so
    does a provider that answers the model.

    Severity is warn, always: the agent is not stuck, the server is, and it may come back.

    Known false positive: a burst of retries that the server asked for by name.

    Threshold: 5, for three quick retries with growing pauses are common practice; 3 to 8 change
    nothing on the data at hand, which hold few outages.

    Args:
        threshold: Refusals in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_batch", "_is_told", "_length", "_threshold")

    name: ClassVar[str] = "provider_failure"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult, ModelTurn)
    needs: ClassVar[tuple[str, ...]] = ("results",)

    def __init__(self, *, threshold: int = 5) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._length = 0
        self._batch = 0
        self._is_told = False

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        if type(observation) is ModelTurn:
            if observation.error:
                return self._count("the model", observation.error)
            return None
        exchange = progress.exchange
        if exchange is None or exchange.is_idle:
            return None
        if exchange.outcome is ERROR and exchange.trouble is SERVER:
            if exchange.batch == self._batch:
                return None
            self._batch = exchange.batch
            return self._count(exchange.tool, _error_of(exchange))
        if exchange.outcome is not UNKNOWN:
            self._length = 0
            self._is_told = False
        return None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._length = 0
        self._is_told = False

    def _count(self, tool: str, error: str) -> Finding | None:
        self._length += 1
        if self._length < self._threshold or self._is_told:
            return None
        self._is_told = True
        tool, error = shortened(tool), shortened(error)
        times = self._length
        return Finding(
            detector=self.name,
            kind=Kind.FAILURE_STREAK,
            severity=Severity.WARN,
            reason=f"{times} calls in a row were refused by a server ({tool}), the last: {error}",
            guidance=(
                f"The server behind {tool} has refused {times} calls in a row: {error}. Asking "
                "faster does not help. Wait as long as it asks for, go on with other work "
                "meanwhile, or say that it cannot be reached."
            ),
            evidence={"tool": tool, "error": error, "count": times},
        )


def _error_of(exchange: Exchange) -> str:
    return exchange.error or "an error without a text"
