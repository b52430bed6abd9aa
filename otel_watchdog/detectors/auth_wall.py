"""Finds a credential that is refused again and again."""

from typing import ClassVar

from otel_watchdog.evidence.exchanges import AUTH, ERROR, OK, Exchange
from otel_watchdog.evidence.likeness import is_sweep
from otel_watchdog.evidence.tallies import Tally, check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

MAX_KEPT = 12


class AuthWall:
    """Fires when one tool is refused for its credential `threshold` times, whatever it is asked.

    Told are 401 and 403, expired and invalid tokens. One call of that tool that works clears it,
    and so does a word of the user; changes and runs do not: a relaunch into a dead credential is
    found across runs. Going through roles, hosts or ids is what is refused on purpose: no wall.

    Severity is warn, and critical from `critical_threshold` on: no repetition can help.

    Known false positive: a permission test whose roles stand in a free text.

    Thresholds: 3 as for any error of alike calls; 5 as for any that is critical.

    Args:
        threshold: Refusals that fire, at least 2.
        critical_threshold: Refusals that are critical.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_critical_threshold", "_kept", "_tally", "_threshold")

    name: ClassVar[str] = "auth_wall"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("results",)

    def __init__(self, *, threshold: int = 3, critical_threshold: int = 5) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        self._threshold = threshold
        self._critical_threshold = critical_threshold
        self._tally = Tally(max_keys=16)
        self._kept: dict[str, list[Exchange]] = {}

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None:
            return None
        if exchange.trouble is not AUTH or exchange.outcome is not ERROR:
            if exchange.outcome is OK:
                self._kept.pop(exchange.tool, None)
                self._tally.drop(exchange.tool)
            return None
        kept = self._kept.setdefault(exchange.tool, [])
        if kept and exchange.in_batch and kept[-1].batch == exchange.batch:
            return None
        kept.append(exchange)
        del kept[:-MAX_KEPT]
        while len(self._kept) > MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        count = self._tally.add(exchange.tool, exchange, exchange.era)
        if count.total < self._threshold or is_sweep(kept):
            return None
        count.total = min(count.total, len(kept))
        severity = count.due(self._threshold, self._critical_threshold)
        return None if severity is None else self._finding(exchange, count.total, severity)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._tally.restart()

    def _finding(self, exchange: Exchange, times: int, severity: Severity) -> Finding:
        tool = shortened(exchange.tool)
        error = shortened(exchange.error or "")
        return Finding(
            detector=self.name,
            kind=Kind.AUTH,
            severity=severity,
            reason=f"{tool} was refused for its credential {times} times: {error}",
            guidance=(
                f"{tool} has refused your credential {times} times ({error}). Neither other words "
                "nor another attempt will open it. Stop calling it, say which access is missing, "
                "and go on with what does not need it."
            ),
            evidence={"tool": tool, "error": error, "count": times},
        )
