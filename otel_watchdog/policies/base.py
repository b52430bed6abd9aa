"""What a policy is."""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from otel_watchdog.model import CorrectionOutcome, Finding, Tier
from otel_watchdog.questions import Approval


class Decision(NamedTuple):
    """What a policy makes of a turn's findings."""

    tier: Tier | None
    """The correction's tier; `None`: say nothing."""
    n: int
    """Which correction of the run this is, or would be, counted from 1."""
    max_turns: int | None = None
    """Absolute turn after which the run is to end."""
    held: str = ""
    """Why nothing is said, in one word for records: `cap`, `unclaimed`, `refractory`, `floor`,
    `asked`, `allowed`."""


class Policy(Protocol):
    """Turns findings into the tier of the next correction.

    The engine copies the policy for every session and calls the copy from one thread at a time.
    """

    name: ClassVar[str]

    def start_run(self, *, max_turns: int | None = None) -> None:
        """Begin a run: counts start anew.

        Args:
            max_turns: The run's own limit, where it is known; caps never raise it.
        """
        ...

    def decide(self, findings: Sequence[Finding], *, turn: int, now: float | None) -> Decision:
        """Decide what findings of one turn call for.

        Args:
            findings: At least one, the strongest first.
            turn: The turn that is judged, from 1.
            now: Seconds on the session's clock; `None` where the trace has none.
        """
        ...

    def claim(self, *, turn: int) -> None:
        """Note that the agent was given the last correction, before the model call of `turn`."""
        ...


@runtime_checkable
class Responsive(Protocol):
    """A policy that goes by what the agent did after its corrections."""

    def respond(self, outcome: CorrectionOutcome) -> None:
        """Take note of what came of a correction of this run, or of one before it."""
        ...


@runtime_checkable
class Withdrawing(Protocol):
    """A policy that waits for its last correction to be claimed, and can be told not to."""

    def withdraw(self) -> None:
        """Note that the agent will never be given the last correction: it does not count."""
        ...


@runtime_checkable
class Attached(Protocol):
    """A policy that wants to know whose it is."""

    def attach(self, session: str) -> None:
        """Take note of the session's key; called once, on the session's own copy."""
        ...


@runtime_checkable
class Audited(Protocol):
    """A policy of which more is to be recorded than its corrections."""

    def audit(self, record: Callable[[Approval], None]) -> None:
        """Have `record` called, too, with each step of each question that it puts to a person."""
        ...
