"""Finds results that hold hardly a line which was not seen just before."""

from typing import Any, ClassVar

from otel_watchdog.evidence.exchanges import HAND_OFF, OK, WRITE, Exchange
from otel_watchdog.evidence.failures import acknowledges
from otel_watchdog.evidence.likeness import alikeness
from otel_watchdog.evidence.recent import add
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

KNOWN_SHARE = 0.8
MIN_LINE_CHARS = 13
ALIKE = 0.6
MAX_TOOLS = 16
MAX_SHORT_CHARS = 200
MAX_SHORT = 6


class KnownLines:
    """Fires when `threshold` results in a row stood, line by line, in the last `memory_results`.

    It is a sweep that has wrapped around, or a page that is read again under another name. Lines
    count by their length; a result of short lines is known if each of its words stood in the last
    six short ones and the question was alike. Acknowledgements and polls are left out. A change
    begins anew, the user clears all that was seen.

    Severity is warn: reading again is a way of thinking.

    Known false positive: going back over a few files to compare them.

    Thresholds: 5 finds 7 of 92 stuck real runs and no other, 4 finds 8 and one other. The memory is
    short on purpose: with all lines ever seen, 38 of 60 long honest sessions were taken for stuck.

    Args:
        threshold: Results in a row that fire, at least 2.
        memory_results: Results whose lines are remembered.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = (
        "_asked",
        "_epoch",
        "_era",
        "_latest",
        "_length",
        "_memory_results",
        "_results",
        "_seen",
        "_short",
        "_threshold",
    )

    name: ClassVar[str] = "known_lines"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("results",)

    def __init__(self, *, threshold: int = 5, memory_results: int = 12) -> None:
        check_thresholds(self.name, threshold)
        check_thresholds(self.name, memory_results, option="memory_results")
        self._threshold = threshold
        self._memory_results = memory_results
        self._results = 0
        self._seen: dict[str, int] = {}
        self._latest: list[str] = []
        """The results whose lines are remembered."""
        self._short: list[str] = []
        self._asked: dict[str, Any] = {}
        self._length = 0
        self._epoch = 0
        self._era = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or exchange.digest is None:
            return None
        if exchange.is_idle or exchange.effect is HAND_OFF:
            return None
        if exchange.era != self._era:
            self._era = exchange.era
            self._seen.clear()
            self._latest.clear()
        if exchange.epoch != self._epoch:
            self._epoch = exchange.epoch
            self._length = 0
        lines = exchange.lines
        counts = exchange.outcome is OK and exchange.effect is not WRITE
        if counts and not exchange.is_poll and not acknowledges(exchange.text):
            if self._is_known(exchange, lines):
                self._length += not exchange.in_batch
            else:
                self._length = 0
        self._keep(exchange.text, lines)
        return self._finding(exchange) if self._length == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._length = 0

    def _is_known(self, exchange: Exchange, lines: list[str]) -> bool:
        """Say whether most of a result, by weight of its lines, was seen just now."""
        if len(exchange.text) <= MAX_SHORT_CHARS and self._is_known_word_by_word(exchange):
            return True
        seen = self._seen
        if seen.keys().isdisjoint(lines) or max(map(len, lines)) < MIN_LINE_CHARS:
            return False
        distinct = set(lines)
        known = sum(map(len, distinct & seen.keys()))
        return known >= KNOWN_SHARE * sum(map(len, distinct))

    def _keep(self, text: str, lines: list[str]) -> None:
        """Remember a result's lines, and forget those that only older results held."""
        seen, number = self._seen, self._results
        self._results = number + 1
        seen.update(dict.fromkeys(lines, number))
        self._latest.append(text)
        if len(self._latest) > self._memory_results:
            oldest = number - self._memory_results
            for line in self._latest.pop(0).split("\n"):
                if seen.get(line) == oldest:
                    del seen[line]

    def _is_known_word_by_word(self, exchange: Exchange) -> bool:
        """Say the same of a short result; the question must be alike, too."""
        words = frozenset(exchange.text.split())
        seen = set[str]().union(*map(str.split, self._short))
        add(self._short, exchange.text, MAX_SHORT)
        asked = self._asked.pop(exchange.tool, None)
        if len(self._asked) >= MAX_TOOLS:
            del self._asked[next(iter(self._asked))]
        self._asked[exchange.tool] = exchange.arguments
        if not words or not words <= seen or not any(map(str.isalpha, exchange.text)):
            return False
        return asked is not None and alikeness(exchange.arguments, asked) >= ALIKE

    def _finding(self, exchange: Exchange) -> Finding:
        times = self._length
        self._length += 1  # said once a streak
        tool = shortened(exchange.tool)
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"{times} results in a row held hardly a line that was not seen just before",
            guidance=(
                f"Your last {times} results held hardly a line that you had not just been given. "
                "Work with what you know now, or look where you have not looked yet."
            ),
            evidence={"tool": tool, "count": times},
        )
