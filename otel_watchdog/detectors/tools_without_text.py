"""Finds many tool calls without a word from the agent between them."""

from typing import ClassVar

from otel_watchdog.errors import ConfigError
from otel_watchdog.model import (
    Finding,
    Kind,
    ModelTurn,
    Observation,
    Severity,
    ToolCall,
)
from otel_watchdog.progress import Progress

MIN_THRESHOLD = 2


class ToolsWithoutText:
    """Fires when the agent makes `threshold` tool calls without saying anything between them.

    Blank text is silence. Any other text ends it, and so does a turn whose text was not captured,
    for nobody can know. Reasoning is not speech. It fires once a silence. What the calls are does
    not matter here: that is the other detectors'.

    Severity is warn: silent work is still work.

    Known false positive: agents told to work in silence, and models that think but do not talk.

    Rule: go-steer/core-agent, `tools-without-text`; options out of bounds, which are refused
    here, are clamped there.

    >>> detector, progress = ToolsWithoutText(threshold=2), Progress()
    >>> for call in (ToolCall("s", 1, "read"), ModelTurn("s", 2, text=""), ToolCall("s", 2, "ls")):
    ...     progress.observe(call)
    ...     finding = detector.observe(call, progress)
    >>> finding.reason
    '2 tool calls were made without any text from the agent'

    Args:
        threshold: Calls that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_calls", "_threshold")

    name: ClassVar[str] = "tools_without_text"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolCall, ModelTurn)
    needs: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, *, threshold: int = 12) -> None:
        if threshold < MIN_THRESHOLD:
            raise ConfigError(
                f"{self.name}.threshold must be at least {MIN_THRESHOLD}, got {threshold!r}"
            )
        self._threshold = threshold
        self._calls = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - every detector takes it
        """See `Detector.observe`."""
        if isinstance(observation, ModelTurn):
            text = observation.text
            if text is None or text.strip():
                self._calls = 0
            return None
        self._calls += 1
        return self._finding() if self._calls == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._calls = 0

    def _finding(self) -> Finding:
        count = self._calls
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"{count} tool calls were made without any text from the agent",
            guidance=(
                f"You have made {count} tool calls without a word in between. Say in one or two "
                "sentences what you have found out, what is still missing and what you will do "
                "next; if nothing is missing, hand over your answer."
            ),
            evidence={"count": count},
        )
