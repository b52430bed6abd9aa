"""What a person is asked about an agent, and what comes of it."""

from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Final, NamedTuple

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Finding, Tier

MAX_TIMES: Final = 100
"""Times that one answer may let a pattern be."""

MAX_SECONDS: Final = 86_400.0
"""How long one answer may hold."""


class Answer(Enum):
    """What a person says."""

    CONTINUE = "continue"
    """Say nothing to the agent this time."""
    STOP = "stop"
    """End the run: the next correction is the firmest."""
    ALLOW = "allow"
    """Say nothing to the agent about this, so many times and so long."""


class Scope(Enum):
    """What is allowed."""

    CALL = "call"
    """This finding, about this call with these arguments."""
    TOOL = "tool"
    """Any finding about this tool."""
    SESSION = "session"
    """Any finding in this session."""


class Approval(NamedTuple):
    """One step on the way from a question to its end, for the records."""

    step: str
    """`asked`, `continue`, `stop`, `allow`, `used` or `unanswered`."""
    session: str
    turn: int
    finding: Finding
    tier: Tier
    """The tier that was asked about."""
    scope: Scope | None = None
    max_times: int | None = None
    seconds: float | None = None
    by: str = ""
    """Who answered, as the program says."""


@dataclass(slots=True)
class Given:
    """An answer."""

    answer: Answer
    scope: Scope
    max_times: int
    seconds: float
    by: str


class Question:
    """What a person is asked; answer it once, from any thread, now or later.

    Args:
        session: Key of the session.
        turn: The turn that was judged.
        tier: The tier of the correction that waits for the answer.
        finding: What was seen.
        asked_at: When, in seconds on the policy's clock.
    """

    def __init__(
        self, *, session: str, turn: int, tier: Tier, finding: Finding, asked_at: float
    ) -> None:
        self.session = session
        self.turn = turn
        self.tier = tier
        self.finding = finding
        self.asked_at = asked_at
        self._lock = Lock()
        self._given: Given | None = None

    @property
    def given(self) -> Given | None:
        """The answer; `None` so far."""
        return self._given

    def answer(
        self,
        answer: Answer,
        *,
        scope: Scope = Scope.CALL,
        max_times: int = 1,
        seconds: float = 600.0,
        by: str = "",
    ) -> bool:
        """Answer; false if somebody has already.

        Args:
            answer: What to do.
            scope: With `ALLOW`: what is allowed.
            max_times: With `ALLOW`: how often, 1 to 100.
            seconds: With `ALLOW`: how long, above 0, a day at most.
            by: Who answers, for the records.

        Raises:
            ConfigError: A value is out of its bounds.
        """
        if not (1 <= max_times <= MAX_TIMES and 0 < seconds <= MAX_SECONDS):
            raise ConfigError(
                f"ask: max_times must be 1 to {MAX_TIMES} and seconds above 0 to {MAX_SECONDS}, "
                f"got {max_times!r}, {seconds!r}"
            )
        with self._lock:
            if self._given is not None:
                return False
            self._given = Given(answer, scope, max_times, seconds, by)
            return True
