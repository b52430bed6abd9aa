"""How often an agent may be restarted, and when to give up."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Step(Enum):
    """What is due for a dead agent."""

    WAIT = "wait"
    RESTART = "restart"
    GIVE_UP = "give-up"


@dataclass(slots=True, kw_only=True)
class Ladder:
    """Counts restarts since an agent was last healthy for long enough.

    Each restart is an attempt that counts, whether its command failed or it worked and the agent
    died again: only lasting health clears the count. Each has its own step of backoff to prove
    itself, the last one too: giving up comes after that, not before.
    """

    failures: int = 0
    backoff_until: float = 0.0
    crash_looping: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether there is nothing to clear."""
        return not self.failures and not self.crash_looping

    def climb(self, now: float, backoff: Sequence[float], cap: int) -> Step:
        """Return what is due for an agent that is dead now, and count it.

        Args:
            now: In seconds.
            backoff: Seconds that each restart has; the last goes on.
            cap: Restarts after which is given up.
        """
        if self.crash_looping or now < self.backoff_until:
            return Step.WAIT
        if self.failures >= cap:
            self.crash_looping = True
            return Step.GIVE_UP
        self.failures += 1
        self.backoff_until = now + backoff[min(self.failures, len(backoff)) - 1]
        return Step.RESTART

    def clear(self) -> None:
        """Forget everything."""
        self.failures = 0
        self.backoff_until = 0.0
        self.crash_looping = False

    def rearm(self, cap: int) -> None:
        """Leave one attempt to an agent that a person has resumed."""
        self.failures = min(self.failures, cap - 1)
        self.backoff_until = 0.0
        self.crash_looping = False
