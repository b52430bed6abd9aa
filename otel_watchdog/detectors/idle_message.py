"""Finds messages that hold nothing: blank ones, and one line chanted without end."""

from collections import Counter
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
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

CHANTED_SHARE = 0.5


class IdleMessage:
    """Fires at `threshold` blank messages in a row without a call, or one line chanted many times.

    A blank message that calls a tool is how many models work, and none. A chant is one line that
    stands `chant_lines` times in a message and makes up more than half of it; rules of a table,
    which hold no letter, do not count.

    Severity is warn, and critical at twice `threshold`, or at three times `chant_lines`.

    Known false positive: a list that is asked for and holds one word again and again.

    Thresholds: 3 blanks, for two may be an error of the provider; 10 to 50 lines change nothing.

    Args:
        threshold: Blank messages in a row that fire, at least 2.
        chant_lines: Times one line of a message stands that fire, at least 2.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_blanks", "_chant_lines", "_threshold")

    name: ClassVar[str] = "idle_message"
    watches: ClassVar[tuple[type[Observation], ...]] = (ModelTurn, ToolCall, UserMessage)
    needs: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, *, threshold: int = 3, chant_lines: int = 20) -> None:
        check_thresholds(self.name, threshold)
        check_thresholds(self.name, chant_lines, option="chant_lines")
        self._threshold = threshold
        self._chant_lines = chant_lines
        self._blanks = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the text says it all
        """See `Detector.observe`."""
        if type(observation) is not ModelTurn:
            self._blanks = 0
            return None
        text = observation.text
        if text is None or observation.tool_calls or observation.error:
            return None
        if not text.strip():
            self._blanks += 1
            if self._blanks in {self._threshold, 2 * self._threshold}:
                return self._blank()
            return None
        self._blanks = 0
        if text.count("\n") >= self._chant_lines - 1:
            return self._chant(text)
        return None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._blanks = 0

    def _blank(self) -> Finding:
        times = self._blanks
        return Finding(
            detector=self.name,
            kind=Kind.THOUGHT_REPETITION,
            severity=Severity.CRITICAL if times > self._threshold else Severity.WARN,
            reason=f"{times} messages in a row were blank and called no tool",
            guidance=(
                f"Your last {times} messages were empty and called no tool. If the task is done, "
                "hand over; if not, take its next step now."
            ),
            evidence={"count": times},
        )

    def _chant(self, text: str) -> Finding | None:
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        if not lines:
            return None
        line, times = Counter(lines).most_common(1)[0]
        if times < self._chant_lines or times <= CHANTED_SHARE * len(lines):
            return None
        if not any(map(str.isalpha, line)):
            return None
        quoted = shortened(line, 80)
        critical = times >= 3 * self._chant_lines
        return Finding(
            detector=self.name,
            kind=Kind.THOUGHT_REPETITION,
            severity=Severity.CRITICAL if critical else Severity.WARN,
            reason=f"one line stands {times} times in a message: {quoted}",
            guidance=(
                f'Your last message held one line {times} times: "{quoted}". Leave it there, and '
                "go on with the next step of the task."
            ),
            evidence={"text": quoted, "count": times},
        )
