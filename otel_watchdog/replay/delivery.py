"""Stands for the agent that takes corrections, where there is only a recording of one."""

from collections.abc import Callable, Sequence
from typing import Any

from otel_watchdog.config import WatchdogConfig
from otel_watchdog.detectors import Detector
from otel_watchdog.engine import Watchdog
from otel_watchdog.model import (
    Correction,
    Finding,
    Mode,
    Observation,
    Outcome,
    RunStarted,
    Suppressed,
)
from otel_watchdog.policies import Policy

ErrorListener = Callable[[str, Exception], None]
"""Called with the place and what was raised there."""


class Delivery:
    """The engine, with an agent that is given each correction at its next turn.

    Args:
        config: Settings.
        detectors: Patterns to look for; `None`: all that are built in.
        policy: Picks tiers; `None`: the ladder.
    """

    def __init__(
        self,
        config: WatchdogConfig,
        detectors: Sequence[Detector] | None,
        policy: Policy | None,
    ) -> None:
        self._options: dict[str, Any] = {
            "config": config,
            "detectors": detectors,
            "policy": policy,
        }
        self._waiting: dict[str, Correction] = {}

    def start(
        self,
        *,
        on_finding: Callable[[Finding, Observation], None],
        on_outcome: Callable[[Outcome], None],
        on_suppressed: Callable[[Suppressed], None],
        on_error: ErrorListener,
    ) -> None:
        """Make the engine, before the first observation."""
        self._watchdog = Watchdog(
            on_finding=on_finding,
            on_outcome=on_outcome,
            on_suppressed=on_suppressed,
            on_error=on_error,
            **self._options,
        )
        self.blind = self._watchdog.blind

    def observe(self, observation: Observation) -> Correction | None:
        """See `Watchdog.observe`; in mode observe, the engine itself takes them for given."""
        waiting = self._waiting.get(observation.session)
        if isinstance(observation, RunStarted):
            self._waiting.pop(observation.session, None)
        elif waiting and observation.turn > waiting.turn:
            del self._waiting[observation.session]
            self._watchdog.claim(waiting)
        correction = self._watchdog.observe(observation)
        if correction is not None and correction.mode > Mode.OBSERVE:
            self._waiting[observation.session] = correction
        return correction
