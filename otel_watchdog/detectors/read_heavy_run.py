"""Finds a stretch of calls that almost only look around."""

from collections import deque
from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.evidence.exchanges import READ, WRITE, Effect
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress


class ReadHeavyRun:
    """Fires when of the last `window_calls` calls at least `share` only looked, and none wrote.

    Waiting and thinking are passed over. It fires once, and again after something was written.

    Severity is warn: reading first is how one learns.

    Known false positive: research, and the first minutes in a large repository.

    Thresholds: nine in ten of at least eight calls, derived from the 5-tier watchdog, whose text
    names none; on 104 healthy real runs eight calls are far too few, so `standard` does without.

    Args:
        window_calls: Calls that are looked at, at least 2.
        share: Share of them that only look, above 0 to 1.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_effects", "_is_told", "_share", "_window_calls")

    name: ClassVar[str] = "read_heavy_run"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments",)

    def __init__(self, *, window_calls: int = 8, share: float = 0.9) -> None:
        check_thresholds(self.name, window_calls, option="window_calls")
        if not 0 < share <= 1:
            raise ConfigError(f"{self.name}.share must be above 0 and at most 1, got {share!r}")
        self._window_calls = window_calls
        self._share = share
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or exchange.is_idle:
            return None
        effects = self._effects
        effects.append(exchange.effect)
        if exchange.effect is WRITE:
            self._is_told = False
        reads = effects.count(READ)
        full = len(effects) == self._window_calls
        if self._is_told or not full or WRITE in effects:
            return None
        if reads < self._share * len(effects):
            return None
        self._is_told = True
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"{reads} of the last {len(effects)} calls only looked, and none wrote",
            guidance=(
                f"{reads} of your last {len(effects)} calls only looked around, and none changed "
                "anything. Say what is still missing; if nothing is, take the first step now."
            ),
            evidence={"count": reads, "calls": len(effects)},
        )

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._effects: deque[Effect] = deque(maxlen=self._window_calls)
        self._is_told = False
