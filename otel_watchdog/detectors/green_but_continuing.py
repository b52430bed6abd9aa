"""Finds an agent whose check is green and that goes on looking at what it knows."""

from typing import ClassVar

from otel_watchdog.evidence.checks import is_green
from otel_watchdog.evidence.exchanges import ERROR, HAND_OFF, WRITE, Exchange
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import (
    Finding,
    Kind,
    Observation,
    RunStarted,
    Severity,
    ToolResult,
    UserMessage,
)
from otel_watchdog.progress import Progress, is_ours
from otel_watchdog.wording import shortened


class GreenButContinuing:
    """Fires when tests, a build or a linter are green and `threshold` known calls in a row follow.

    Known is a call that was made before with the same result, nothing changed in between: the green
    check once more, the same diff, the same file. Whatever brings something new starts the count
    anew: another check, a file not yet read, a command not yet run. A change, a failure, a hand-off
    and a word of the user end it until the next green check.

    Severity is warn: the work may be done, but a last look costs little.

    Known false positive: a demonstration for somebody whose messages are not in the trace.

    Threshold: 4; 2 to 6 warn none of the 268 runs at hand that turn green and are not known to be
    stuck, 197 of them solved tasks of SWE-bench. So it was chosen by hand: two looks at a diff and
    a second run of the tests, which are common at the end of honest work, make 3.

    Args:
        threshold: Known calls in a row that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_green", "_known", "_threshold")

    name: ClassVar[str] = "green_but_continuing"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult, UserMessage, RunStarted)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(self, *, threshold: int = 4) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._green: str | None = None
        """The check that is green, as it is shown; `None`: none is."""
        self._known = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        if type(observation) is not ToolResult:
            if not (type(observation) is UserMessage and is_ours(observation)):
                self._green = None
            return None
        exchange = progress.exchange
        if exchange is None or exchange.is_idle:
            return None
        if self._green is None:
            self._begin(exchange)
            return None
        if exchange.effect is WRITE or exchange.effect is HAND_OFF or exchange.outcome is ERROR:
            self._green = None
            return None
        self._known = self._known + 1 if _is_known(exchange) else 0
        return self._finding(self._green) if self._known == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._known = 0

    def _begin(self, exchange: Exchange) -> None:
        if is_green(exchange):
            self._green = exchange.key.replace("\0", " ")
            self._known = 0

    def _finding(self, green: str) -> Finding:
        check = shortened(green)
        return Finding(
            detector=self.name,
            kind=Kind.DONE_BUT_CONTINUING,
            severity=Severity.WARN,
            reason=f"{check} was green, and the last {self._known} calls brought nothing new",
            guidance=(
                f"Your check is green ({check}), and your last {self._known} calls only brought "
                "what you had already seen; nothing has changed since. If something is still to be "
                "done, do that; otherwise hand over the result and stop."
            ),
            evidence={"check": check, "count": self._known},
        )


def _is_known(exchange: Exchange) -> bool:
    """Say whether a call was made before with the same result, nothing changed in between."""
    last = exchange.last
    return (
        exchange.is_known
        and not exchange.is_poll
        and last is not None
        and last.digest == exchange.digest
        and last.epoch == exchange.epoch
    )
