"""Fakes and facts for the tests of this package and of yours."""

from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.model import (
    Correction,
    Finding,
    Kind,
    Mode,
    Severity,
    Tier,
)


class FakeClock:
    """A clock that moves when told to.

    >>> clock = FakeClock()
    >>> clock.advance(2.5)
    >>> clock()
    2.5
    """

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        """Return the fake time, in seconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move time on."""
        self._now += seconds


def finding(
    *,
    detector: str = "repeated_tool_call",
    severity: Severity = Severity.CRITICAL,
    kind: Kind = Kind.LOOP,
) -> Finding:
    """Return a finding with plausible texts."""
    return Finding(
        detector=detector,
        kind=kind,
        severity=severity,
        reason="ls was called 5 times in a row with {}",
        guidance="You have called ls 5 times in a row with the same arguments.",
        evidence={"tool": "ls", "count": 5},
    )


def correction(  # noqa: PLR0913 - every fact may matter to a test
    *,
    id: str = "c1",  # noqa: A002 - the field's name
    session: str = "s",
    run: str = "r",
    turn: int = 5,
    n: int = 1,
    tier: Tier = Tier.NUDGE,
    mode: Mode = Mode.FEEDBACK,
    message: str = "[watchdog] stop",
    max_turns: int | None = None,
) -> Correction:
    """Return a correction with plausible facts."""
    return Correction(
        id=id,
        session=session,
        run=run,
        agent=None,
        turn=turn,
        n=n,
        tier=tier,
        mode=mode,
        findings=(finding(),),
        message=message,
        max_turns=max_turns,
    )


def drift_check(
    *, verdict: str = "stuck", cost_usd: float | None = 0.011, error: str | None = None
) -> DriftCheck:
    """Return a drift check with plausible facts."""
    return DriftCheck(
        session="s",
        turn=5,
        verdict=verdict,
        started_at=1_800_000_000.0,
        seconds=1.5,
        model="small-model",
        provider="openai",
        instructions="Say whether the agent still progresses.",
        prompt="Task: build it. Recent calls: ls, ls, ls.",
        answer="" if error else f'{{"verdict":"{verdict}"}}',
        reason="the same listing again and again",
        error=error,
        agent="fixer",
        confidence=None if error else 0.9,
        input_tokens=900,
        output_tokens=40,
        cost_usd=cost_usd,
    )


def reraise(place: str, error: Exception) -> None:  # noqa: ARG001 - the place is in the traceback
    """Let an internal error come through: `WatchdogSpanProcessor(on_error=reraise)`."""
    raise error
