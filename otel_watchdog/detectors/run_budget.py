"""Finds a run that has used up what it was given."""

from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import (
    Finding,
    Kind,
    ModelTurn,
    Observation,
    RunStarted,
    Severity,
    ToolCall,
)
from otel_watchdog.progress import Progress

NEAR = 0.8
_UNITS = {"usd": "US dollars"}


class RunBudget:
    """Fires when a run comes near one of its limits, and once more when it has passed it.

    It is asked within the run, at each turn and call. Tokens are counted net: of what goes into the
    model only what is new since the turn before, for the rest comes out of a cache or should. A
    limit that is not set never fires; a new run begins anew.

    Severity is warn at four fifths of a limit, and critical past it: that is what a limit is for.

    Known false positive: a limit that is too low for the task.

    Thresholds: none is right for everybody, so none is set.

    Args:
        max_calls: Tool calls of a run, at least 1; `None`: no limit.
        max_seconds: Seconds that a run may take, above 0; `None`: no limit.
        max_tokens: Tokens of a run, net of what was sent before, at least 1; `None`: no limit.
        max_usd: US dollars of a run's model calls, above 0; `None`: no limit. Counted are calls
            whose cost the trace tells.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_began", "_limits", "_sent", "_told", "_used")

    name: ClassVar[str] = "run_budget"
    watches: ClassVar[tuple[type[Observation], ...]] = (RunStarted, ModelTurn, ToolCall)
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_seconds: float | None = None,
        max_tokens: int | None = None,
        max_usd: float | None = None,
    ) -> None:
        self._limits = {
            "calls": max_calls,
            "seconds": max_seconds,
            "tokens": max_tokens,
            "usd": max_usd,
        }
        for what, limit in self._limits.items():
            if limit is not None and limit <= 0:
                raise ConfigError(f"{self.name}.max_{what} must be above 0, got {limit!r}")
        self._began: float | None = None
        self._sent = 0
        self._used: dict[str, float] = dict.fromkeys(self._limits, 0.0)
        self._told: dict[str, Severity] = {}

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - it counts by itself
        """See `Detector.observe`."""
        time = observation.time
        if type(observation) is RunStarted:
            self._begin(time)
            return None
        used = self._used
        if self._began is None:
            self._began = time
        elif time is not None:
            used["seconds"] = max(used["seconds"], time - self._began)
        if type(observation) is ToolCall:
            used["calls"] += 1
        elif type(observation) is ModelTurn:
            sent = observation.input_tokens or 0
            used["tokens"] += max(0, sent - self._sent) + (observation.output_tokens or 0)
            self._sent = max(self._sent, sent)
            used["usd"] += observation.cost_usd or 0.0
        return self._judge()

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._told = dict.fromkeys(self._told, Severity.WARN)

    def _begin(self, time: float | None) -> None:
        self._began = time
        self._sent = 0
        self._used = dict.fromkeys(self._limits, 0.0)
        self._told = {}

    def _judge(self) -> Finding | None:
        for what, limit in self._limits.items():
            if limit is None or self._used[what] < NEAR * limit:
                continue
            past = self._used[what] >= limit
            severity = Severity.CRITICAL if past else Severity.WARN
            if self._told.get(what) in {severity, Severity.CRITICAL}:
                continue
            self._told[what] = severity
            return self._finding(what, limit, severity)
        return None

    def _finding(self, what: str, limit: float, severity: Severity) -> Finding:
        used = round(self._used[what], 2) if what == "usd" else int(self._used[what])
        unit = _UNITS.get(what, what)
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=severity,
            reason=f"the run has used {used:g} of its {limit:g} {unit}",
            guidance=(
                f"You have used {used:g} of the {limit:g} {unit} that there are for this task. "
                "Hand over what you have, and say plainly what is missing."
            ),
            evidence={"what": what, "count": used, "limit": limit},
        )
