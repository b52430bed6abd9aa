"""Finds the same call that brings back the same result, again and again."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import ERROR, HAND_OFF, SERVER, Exchange
from otel_watchdog.evidence.failures import is_pending
from otel_watchdog.evidence.tallies import Tally, check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened


class UnchangedResult:
    """Fires when one call has brought the same result `threshold` times, nothing changing between.

    Equal are calls by tool and arguments, results but for clocks, ids and the like. A change that
    was never made before, or a word of the user, starts the count anew: a test run after each edit
    is none. Counted is within `window_calls`; any distance apart, `far_threshold` fires.

    Who waits is given time: a status asked for fires at `poll_threshold`, at `slow_poll_threshold`
    where `slow_poll_seconds` lie between, without a clock at `blind_poll_threshold` while it says
    that something still goes on; any other call at `spaced_threshold` where `spaced_seconds` lie
    between. A server that is overloaded never makes it critical.

    Severity is warn, and critical from `critical_threshold` on: five equal answers to one question.

    Known false positive: a status tool with an unusual name, asked quickly and without a clock.

    Thresholds: on 223 real runs 3 finds 52 of 92 stuck ones and no other; 2 finds 65 and 3 others,
    4 finds 44. Windows of 6 to 64 calls change nothing.

    Args:
        threshold: Times that fire, at least 2.
        critical_threshold: Times that are critical.
        far_threshold: Times, any distance apart, that fire; twice as many are critical.
        window_calls: Calls within which the next one must come.
        poll_threshold: Times a status may be asked for quickly, less one.
        slow_poll_threshold: The same with `slow_poll_seconds` between.
        blind_poll_threshold: The same without a clock while something goes on.
        slow_poll_seconds: Seconds between polls that make them patient.
        spaced_threshold: Times of any call that fire with `spaced_seconds` between.
        spaced_seconds: Seconds after which the world may have changed by itself.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = (
        "_blind_poll_threshold",
        "_critical_threshold",
        "_far",
        "_far_threshold",
        "_near",
        "_poll_threshold",
        "_row",
        "_slow_poll_seconds",
        "_slow_poll_threshold",
        "_spaced_seconds",
        "_spaced_threshold",
        "_threshold",
    )

    name: ClassVar[str] = "unchanged_result"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(  # noqa: PLR0913 - each has a default that suits most
        self,
        *,
        threshold: int = 3,
        critical_threshold: int = 5,
        far_threshold: int = 4,
        window_calls: int = 12,
        poll_threshold: int = 5,
        slow_poll_threshold: int = 25,
        blind_poll_threshold: int = 10,
        slow_poll_seconds: float = 20.0,
        spaced_threshold: int = 6,
        spaced_seconds: float = 60.0,
    ) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        self._threshold = threshold
        self._critical_threshold = critical_threshold
        self._far_threshold = far_threshold
        self._poll_threshold = poll_threshold
        self._slow_poll_threshold = slow_poll_threshold
        self._blind_poll_threshold = blind_poll_threshold
        self._slow_poll_seconds = slow_poll_seconds
        self._spaced_threshold = spaced_threshold
        self._spaced_seconds = spaced_seconds
        self._near = Tally(window_calls=window_calls)
        self._far = Tally()
        self._row: tuple[object, int] = (None, 0)

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or not exchange.is_known or exchange.is_idle:
            return None
        key = exchange.pair
        self._row = (key, self._row[1] + 1 if self._row[0] == key else 1)
        far = self._far.add(key, exchange, exchange.epoch)
        if far.total == 1:
            if not exchange.is_new:
                self._near.drop(key)
            return None
        if key not in self._near:
            self._near.add(key, exchange, exchange.epoch)
        near = self._near.add(key, exchange, exchange.epoch)
        if far.total < self._threshold:
            return None
        threshold, critical = self._thresholds(exchange)
        severity = near.due(threshold, critical)
        times = near.total
        if severity is None and near.told is None:
            doubled = None if critical is None else max(critical, 2 * self._far_threshold)
            severity = far.due(max(self._far_threshold, threshold), doubled)
            times = far.total
        return None if severity is None else self._finding(exchange, times, severity)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._near.restart()
        self._far.restart()

    def _thresholds(self, exchange: Exchange) -> tuple[int, int | None]:
        """Return from how many times on it is a warning, and critical."""
        if exchange.outcome is ERROR:
            is_server = exchange.trouble is SERVER
            return (5, None) if is_server else (self._threshold, self._critical_threshold)
        gap = exchange.gap
        if exchange.is_poll:
            if gap is not None and gap >= self._slow_poll_seconds:
                return self._slow_poll_threshold, None
            threshold = self._poll_threshold
            if gap is None and is_pending(exchange.text):
                threshold = self._blind_poll_threshold
            return threshold, max(8, threshold + 3)
        if gap is not None and gap >= self._spaced_seconds:
            return self._spaced_threshold, 2 * self._spaced_threshold
        return self._threshold, self._critical_threshold

    def _kind(self, exchange: Exchange, times: int) -> Kind:
        """Say whether they came in a row, with others strewn between, or through other agents."""
        if exchange.effect is HAND_OFF:
            return Kind.CYCLE
        return Kind.LOOP if self._row[1] >= min(times, self._threshold) else Kind.DOMINANT

    def _finding(self, exchange: Exchange, times: int, severity: Severity) -> Finding:
        tool = shortened(exchange.tool)
        arguments = shortened(exchange.key.partition("\0")[2])
        came, way_out = "got the same result each time", "Use what it gave you"
        reason = f"{tool} brought the same result {times} times with {arguments}"
        if exchange.outcome is ERROR:
            came, way_out = "it failed in one and the same way each time", "Remove the cause"
            reason = f"{tool} failed alike {times} times with {arguments}"
        return Finding(
            detector=self.name,
            kind=self._kind(exchange, times),
            severity=severity,
            reason=reason,
            guidance=(
                f"You have called {tool} {times} times with the same arguments ({arguments}) and "
                f"{came}; nothing that you changed in between touches it. "
                f"{way_out}, change the arguments, or use another tool."
            ),
            evidence={"tool": tool, "arguments": arguments, "count": times},
        )
