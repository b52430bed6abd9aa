"""What a detector is."""

from typing import ClassVar, Protocol

from otel_watchdog.model import Finding, Observation
from otel_watchdog.progress import Progress


class Detector(Protocol):
    """Watches one session's observations, in order, and says when it sees its pattern.

    The engine copies each detector for every session and calls the copy from one thread at a
    time, so a detector keeps plain attributes, in bounded number, and needs no lock. It reads no
    clock, does no I/O, and never treats what was not captured as equal to anything.
    """

    name: ClassVar[str]
    """Stable id, snake_case, of the pattern found; used in settings, spans and metrics."""

    watches: ClassVar[tuple[type[Observation], ...]]
    """The observations it is shown."""

    needs: ClassVar[tuple[str, ...]]
    """What the trace must carry, of `arguments`, `results`, `outcomes` and `text`; without it
    the session reports the detector blind."""

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """Take in one observation.

        Args:
            observation: The session's next fact, oldest first.
            progress: The session's evidence; has taken in `observation` already.

        Returns:
            A finding once, when the pattern completes; `None` while it does not or goes on.
        """
        ...

    def restart(self) -> None:
        """Forget the evidence gathered so far: a correction was claimed, judge what follows."""
        ...
