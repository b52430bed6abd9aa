"""Stands for the agent that takes corrections, where there is only a recording of one."""

from collections.abc import Callable, Sequence
from typing import Any

from otel_watchdog.config import WatchdogConfig
from otel_watchdog.detectors import Detector
from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.engine import Watchdog
from otel_watchdog.judges import Judge
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
from otel_watchdog.second_opinion import SecondOpinion, consult

ErrorListener = Callable[[str, Exception], None]
"""Called with the place and what was raised there."""


class Delivery:
    """The engine, with an agent that is given each correction at its next turn.

    Args:
        config: Settings.
        detectors: Patterns to look for; `None`: all that are built in.
        policy: Picks tiers; `None`: the ladder.
        judge: Asked where the rules see nothing, in the recording's own time, which stands still
            until it has answered; `None`: nobody is.
    """

    def __init__(
        self,
        config: WatchdogConfig,
        detectors: Sequence[Detector] | None,
        policy: Policy | None,
        judge: Judge | None = None,
    ) -> None:
        self._options: dict[str, Any] = {
            "config": config,
            "detectors": detectors,
            "policy": policy,
        }
        self._waiting: dict[str, Correction] = {}
        self._judge = judge
        self._opinion = SecondOpinion(config, clock=None)
        # What lies in a folder by now is not what lay there then.
        self._settings = config.judge.model_copy(update={"workspace": None})

    def start(
        self,
        *,
        on_finding: Callable[[Finding, Observation], None],
        on_outcome: Callable[[Outcome], None],
        on_suppressed: Callable[[Suppressed], None],
        on_error: ErrorListener,
        on_check: Callable[[DriftCheck], None],
    ) -> None:
        """Make the engine, before the first observation."""

        def find(finding: Finding, observation: Observation) -> None:
            self._opinion.find(finding, observation)
            on_finding(finding, observation)

        self._on_check, self._on_error = on_check, on_error
        self._watchdog = Watchdog(
            on_finding=find,
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
        if self._judge is not None:
            correction = self._consult(self._judge, observation) or correction
        if correction is not None and correction.mode > Mode.OBSERVE:
            self._waiting[observation.session] = correction
        return correction

    def _consult(self, judge: Judge, observation: Observation) -> Correction | None:
        """Ask the judge, where it is time to; return the correction that comes of it."""
        question = self._opinion.due(observation)
        if question is None:
            return None
        answer = consult(judge, question, self._settings, on_error=self._on_error)
        for check in answer.checks:
            self._on_check(check)
        finding = self._opinion.settle(answer)
        return self._watchdog.propose(finding, observation) if finding is not None else None
