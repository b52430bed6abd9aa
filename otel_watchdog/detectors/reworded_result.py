"""Finds the same call whose result is only told in other words each time."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import HAND_OFF, WRITE, Exchange
from otel_watchdog.evidence.likeness import overlap
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MIN_CHARS = 150
ALIKE = 0.6
EQUAL = 0.9
GROWN = 0.97
MAX_CALLS = 64


class _Seen:
    __slots__ = ("alike", "equal", "exchange")

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.alike = 1
        self.equal = 1


class RewordedResult:
    """Fires when `threshold` results in a row of one call share most words, nothing done between.

    It is a page that a model describes anew after each click. Results of 150 characters and more
    count; one that only grew is a log that goes on. Those with nine words in ten in common fire at
    `equal_threshold`.

    Severity is warn: a number among many words may be the news.

    Known false positive: a dashboard of many words in which one figure moves.

    Thresholds: 4 at an overlap of 0.6 finds 7 stuck real runs and no other, 3 finds 12.

    Args:
        threshold: Alike results in a row that fire, at least 2.
        equal_threshold: Nearly equal results in a row that fire.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_equal_threshold", "_seen", "_threshold")

    name: ClassVar[str] = "reworded_result"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(self, *, threshold: int = 4, equal_threshold: int = 3) -> None:
        check_thresholds(self.name, threshold)
        check_thresholds(self.name, equal_threshold, option="equal_threshold")
        self._threshold = threshold
        self._equal_threshold = equal_threshold
        self._seen: dict[str, _Seen] = {}

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or exchange.digest is None or len(exchange.text) < MIN_CHARS:
            return None
        identity = exchange.identity
        if identity is None or exchange.is_poll:
            return None
        if exchange.is_idle or exchange.effect in (WRITE, HAND_OFF):
            return None
        last = exchange.last
        if last is None or last.digest is None:
            return None
        before = self._seen.pop(identity, None)
        if before is None or before.exchange is not last:
            before = _Seen(last)
            if len(self._seen) >= MAX_CALLS:
                del self._seen[next(iter(self._seen))]
        self._seen[identity] = seen = self._next(before, exchange)
        alike = seen.alike == self._threshold
        return (
            self._finding(exchange, seen) if alike or seen.equal == self._equal_threshold else None
        )

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._seen.clear()

    def _next(self, before: _Seen, exchange: Exchange) -> _Seen:
        seen, last = _Seen(exchange), before.exchange
        if last.epoch != exchange.epoch:
            return seen
        if last.digest == exchange.digest:
            seen.alike, seen.equal = before.alike + 1, before.equal + 1
            return seen
        words, others = exchange.words, last.words
        if len(words) > len(others) and len(words & others) >= GROWN * len(others):
            return seen
        share = overlap(words, others)
        if share >= ALIKE:
            seen.alike = before.alike + 1
        if share >= EQUAL:
            seen.equal = before.equal + 1
        return seen

    def _finding(self, exchange: Exchange, seen: _Seen) -> Finding:
        tool = shortened(exchange.tool)
        arguments = shortened(exchange.key.partition("\0")[2])
        times = max(seen.alike, seen.equal)
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"{tool} brought nearly the same result {times} times with {arguments}",
            guidance=(
                f"{tool} with {arguments} has brought nearly the same {times} times in a row; what "
                "you do does not move it. Use what it shows, or take another way to what you want."
            ),
            evidence={"tool": tool, "arguments": arguments, "count": times},
        )
