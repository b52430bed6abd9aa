"""Detectors, a policy and an agent that loops, for the tests of the engine."""

from otel_watchdog import (
    Finding,
    Kind,
    Mode,
    RepeatedToolCall,
    Severity,
    Tier,
    ToolCall,
    Watchdog,
    WatchdogConfig,
)
from otel_watchdog.policies import Decision

KEY = "sk-abcdefghijklmnopqrstuvwxyz"
"""What looks like a provider's key."""


class Always:
    """A detector that finds something in every call, as sure and as named as it is told."""

    watches = (ToolCall,)
    needs = ()

    def __init__(self, name="always", severity=Severity.CRITICAL, text="x"):
        self.name = name
        self._severity = severity
        self._text = text
        self.restarts = 0

    def observe(self, observation, progress):  # noqa: ARG002 - a detector's form
        return Finding(
            detector=self.name,
            kind=Kind.LOOP,
            severity=self._severity,
            reason=f"{self.name} saw {self._text}",
            guidance=f"Stop {self._text}.",
            evidence={"text": self._text, "count": 3},
        )

    def restart(self):
        self.restarts += 1


class Broken(Always):
    """A detector that raises where it is told to."""

    def __init__(self, *, at="observe"):
        super().__init__("broken")
        self._at = at

    def observe(self, observation, progress):  # noqa: ARG002 - a detector's form
        if self._at == "observe":
            raise RuntimeError("broken")

    def restart(self):
        raise RuntimeError("broken")


class Eager:
    """A policy that speaks whenever it is asked, at its highest tier."""

    name = "eager"

    def __init__(self):
        self.asked = []

    def start_run(self, *, max_turns=None):
        pass

    def decide(self, findings, *, turn, now):  # noqa: ARG002 - a policy's form
        self.asked.append(turn)
        return Decision(tier=Tier.TERMINATE, n=1, max_turns=turn + 3)

    def claim(self, *, turn):
        pass


def config(mode=Mode.FEEDBACK, **settings):
    """Return settings that let one correction follow the other."""
    return WatchdogConfig(
        **({"mode": mode, "refractory_seconds": 0, "refractory_turns": 0} | settings)
    )


def watch(*detectors, policy=None, on_finding=None, on_error=None, **settings):
    """Return an engine over these detectors."""
    return Watchdog(
        config=config(**settings),
        detectors=detectors or [RepeatedToolCall()],
        policy=policy,
        on_finding=on_finding,
        on_error=on_error,
    )


def call(turn, name="ls", arguments="{}", session="s", time=None):
    """Return one tool call."""
    return ToolCall(session, turn, name, arguments, time=time)


def loop(watchdog, turns, *, claim=True, first=1, session="s"):
    """Make the same call once a turn; return the corrections, each claimed at once or never."""
    found = []
    for turn in range(first, first + turns):
        correction = watchdog.observe(call(turn, session=session))
        if correction is not None:
            found.append(correction)
            if claim:
                watchdog.lease(correction)
                watchdog.claim(correction)
    return found


def names(corrections):
    """Return the span names of corrections."""
    return [correction.span_name for correction in corrections]
