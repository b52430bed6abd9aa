"""Finds an agent that announces what it will do and does not do it."""

import re
from typing import ClassVar

from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import (
    Finding,
    Kind,
    ModelTurn,
    Observation,
    Severity,
    ToolCall,
    UserMessage,
)
from otel_watchdog.progress import Progress, is_ours
from otel_watchdog.wording import shortened

HEAD_CHARS = 200

_PROMISE = re.compile(
    r"(?i)\b(?:let me|i will|i'll|i am going to|i'm going to|going to|now i|next i|time to|writing"
    r"|let us|let's|ich werde|lass mich|jetzt|je vais|voy a|d[eé]jame|vou|ora)\b"
    r"|我将|让我|接下来|これから"
)


class PromiseWithoutCall:
    """Fires when `threshold` messages in a row announce a step and no tool is called.

    A call, a message that announces nothing, one that holds a program and a word of the user clear
    it: some agents act by programs that no span tells of.

    Severity is warn: an agent without tools can only talk.

    Known false positive: a story told in the first person, in parts.

    Threshold: 6; 4 to 12 change nothing, and a plan told over three messages is no fault.

    Args:
        threshold: Messages in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_length", "_threshold")

    name: ClassVar[str] = "promise_without_call"
    watches: ClassVar[tuple[type[Observation], ...]] = (ModelTurn, ToolCall, UserMessage)
    needs: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, *, threshold: int = 6) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._length = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the text says it all
        """See `Detector.observe`."""
        if type(observation) is not ModelTurn:
            if not (type(observation) is UserMessage and is_ours(observation)):
                self._length = 0
            return None
        text = observation.text
        if text is None or observation.tool_calls:
            return None
        if "```" in text or "<code>" in text or not _PROMISE.search(text[:HEAD_CHARS]):
            self._length = 0
            return None
        self._length += 1
        return self._finding(text) if self._length == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._length = 0

    def _finding(self, text: str) -> Finding:
        times = self._length
        quoted = shortened(" ".join(text.split()), 120)
        return Finding(
            detector=self.name,
            kind=Kind.THOUGHT_REPETITION,
            severity=Severity.WARN,
            reason=f"{times} messages in a row announced a step and called no tool: {quoted}",
            guidance=(
                f"You have announced your next step {times} times without taking it: "
                f'"{quoted}". Take it now with a tool call; if you cannot, say why and hand over.'
            ),
            evidence={"text": quoted, "count": times},
        )
