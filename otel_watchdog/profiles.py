"""Named presets: which detectors look, and with what options."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from otel_watchdog import detectors as d
from otel_watchdog.config import Profile

CLASSIC: Final[tuple[Callable[[], d.Detector], ...]] = (
    d.RepeatedToolCall,
    d.ToolCallCycle,
    d.DominantToolCall,
    d.RepeatedToolName,
    d.ToolFailureStreak,
    d.NoOpStreak,
    d.NoNewState,
    d.ToolsWithoutText,
)
"""The eight that go-steer/core-agent published: they judge the call, not what came of it."""

STANDARD: Final[tuple[Callable[[], d.Detector], ...]] = (
    d.UnchangedResult,
    d.ResultCycle,
    d.AuthWall,
    d.SameError,
    d.RewordedCall,
    d.FailingCheck,
    d.UndoneEdit,
    d.NoOpStreak,
    partial(d.ToolFailureStreak, threshold=5, critical_threshold=8, by_evidence=True),
    d.EchoedProgram,
    d.RewordedResult,
    d.UnmovedPage,
    d.RewordedRequest,
    d.RepeatedText,
    d.IdleMessage,
    d.PromiseWithoutCall,
    d.DoneButContinuing,
    d.GreenButContinuing,
    d.DuplicateWork,
    d.ProviderFailure,
    d.KnownLines,
)
"""Those that ask what came of a call before they judge it; the surest speak first."""

EAGER: Final[tuple[Callable[[], d.Detector], ...]] = (
    d.RepeatedCommand,
    partial(d.SameError, threshold=3),
    d.AuthWall,
    d.NoFileWritten,
    d.ReadHeavyRun,
    d.DoneButContinuing,
)
"""The four rules of the 5-tier watchdog, which count and do not ask, and two of its messages."""

GENTLE: Final[tuple[Callable[[], d.Detector], ...]] = (
    partial(d.ToolFailureStreak, threshold=3, empty_clears=False),
    d.TurnsWithoutSuccess,
    partial(d.RepeatedToolCall, threshold=4),
    partial(d.ToolCallCycle, max_period=4, threshold=4),
    d.RepeatedThought,
)
"""The four rules of a watchdog inside a harness: failures, turns, groups of calls, thoughts."""

DETECTORS: Final[Mapping[Profile, tuple[Callable[[], d.Detector], ...]]] = {
    Profile.STANDARD: STANDARD,
    Profile.CLASSIC: CLASSIC,
    Profile.EAGER: EAGER,
    Profile.GENTLE: GENTLE,
}
"""What makes each profile's detectors, in the order in which they are asked."""


def detectors_of(profile: Profile) -> tuple[d.Detector, ...]:
    """Return a profile's detectors, made anew.

    >>> [detector.name for detector in detectors_of(Profile.CLASSIC)][0]
    'repeated_tool_call'
    """
    return tuple(make() for make in DETECTORS[profile])
