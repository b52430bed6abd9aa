"""Finds runs that have used more tokens than they may."""

from typing import ClassVar

from otel_watchdog import ConfigError, Finding, Kind, ModelTurn, Observation, RunStarted, Severity
from otel_watchdog.progress import Progress

__all__ = ["TokenBudget"]


class TokenBudget:
    """Fires once a run, when its model calls have written more than `max_output_tokens`.

    Turns of which the trace does not say what they used count nothing.

    Severity is warn: a long answer may be the job.

    Known false positive: an agent that writes a book, by order.

    >>> detector = TokenBudget(max_output_tokens=100)
    >>> turn = ModelTurn(session="s", turn=1, output_tokens=101)
    >>> detector.observe(turn, Progress()).reason
    'the run has used 101 output tokens of 100'

    Args:
        max_output_tokens: At least 1.

    Raises:
        ConfigError: `max_output_tokens` is below 1.
    """

    name: ClassVar[str] = "token_budget"
    watches: ClassVar[tuple[type[Observation], ...]] = (RunStarted, ModelTurn)
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, max_output_tokens: int = 100_000) -> None:
        if max_output_tokens < 1:
            raise ConfigError(
                f"{self.name}.max_output_tokens must be at least 1, got {max_output_tokens!r}"
            )
        self._max_output_tokens = max_output_tokens
        self._used = 0
        self._has_fired = False

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the protocol's
        """Count what a turn has used; a new run begins at nothing."""
        if isinstance(observation, RunStarted):
            self._used = 0
            self._has_fired = False
        elif isinstance(observation, ModelTurn):
            self._used += observation.output_tokens or 0
        if self._has_fired or self._used <= self._max_output_tokens:
            return None
        self._has_fired = True
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"the run has used {self._used} output tokens of {self._max_output_tokens}",
            guidance="You have written more than was planned for. Deliver the short version now.",
            evidence={"used": self._used, "max": self._max_output_tokens},
        )

    def restart(self) -> None:
        """Keep counting: what is used stays used, and it was said once."""
