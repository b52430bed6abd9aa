"""Finds a tool that is asked in ever new words and answers the same."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from otel_watchdog.evidence.exchanges import (
    EMPTY,
    ERROR,
    HAND_OFF,
    OK,
    SERVER,
    UNCLEAR,
    WRITE,
    Exchange,
)
from otel_watchdog.evidence.failures import acknowledges
from otel_watchdog.evidence.likeness import alikeness
from otel_watchdog.evidence.recent import add
from otel_watchdog.evidence.tallies import Count, check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

ALIKE = 0.6
SUBSTANCE_CHARS = 40
MAX_TOOLS = 16
MIN_CHARS = 8
MAX_ALIKE = 4


class _First(NamedTuple):
    """One call, as long as none like it has followed."""

    outcome: int | str | None
    arguments: Mapping[str, Any] | None
    epoch: int
    batch: int


class _Chain:
    """One tool's calls in a row with one result."""

    __slots__ = ("alike", "all", "arguments", "batch", "epoch", "outcome")

    def __init__(self, first: _First) -> None:
        self.outcome = first.outcome
        self.alike = Count(0, 0, 0)
        self.all = Count(0, 0, 0)
        self.arguments = [first.arguments]
        self.epoch = first.epoch
        self.batch = first.batch

    def is_over(self, exchange: Exchange) -> bool:
        """Say whether the agent was corrected and has brought something new since."""
        if not self.alike.corrected and not self.all.corrected:
            return False
        return exchange.news > self.alike.news


class RewordedCall:
    """Fires when one tool has given one result to `threshold` differently worded calls.

    Alike are arguments with most words in common, and those that differ in a nonce, a limit or a
    flag. A result of substance (40 characters) that does not change counts whatever was asked. An
    empty result of unlike questions fires at `empty_threshold` where the tool has never found
    anything, and at twice that where it has: looking for what is not there is work. A change, the
    user and another result begin anew; acknowledgements of writes, also silent ones, never count,
    nor does going through a list by id, host, role or page.

    Severity is warn, and critical from `critical_threshold` on, but not for writes.

    Known false positive: a set of different queries that rightly share one answer.

    Thresholds: 4 finds 53 of 92 stuck real runs and no other, 3 finds 64 and two others.

    Args:
        threshold: Calls in a row that fire, at least 2.
        critical_threshold: Calls in a row that are critical.
        empty_threshold: Empty results of unlike calls that fire.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_chains", "_critical_threshold", "_empty_threshold", "_finders", "_threshold")

    name: ClassVar[str] = "reworded_call"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(
        self, *, threshold: int = 4, critical_threshold: int = 6, empty_threshold: int = 5
    ) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        check_thresholds(self.name, empty_threshold, option="empty_threshold")
        self._threshold = threshold
        self._critical_threshold = critical_threshold
        self._empty_threshold = empty_threshold
        self._chains: dict[str, _Chain | _First] = {}
        self._finders: dict[str, None] = {}

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or not exchange.is_known:
            return None
        effect, tool = exchange.effect, exchange.tool
        if exchange.is_idle or effect is HAND_OFF:
            return None
        if exchange.outcome is OK and tool not in self._finders:
            if len(self._finders) >= 4 * MAX_TOOLS:
                del self._finders[next(iter(self._finders))]
            self._finders[tool] = None
        if exchange.trouble is SERVER or exchange.is_echo:
            return None
        is_error = exchange.outcome is ERROR
        outcome = exchange.signature if is_error else exchange.digest
        found: Finding | None = None
        for asked in asked_of(exchange):
            chain = self._chains.get(asked)
            if (
                chain is None
                or chain.outcome != outcome
                or (chain.epoch != exchange.epoch and effect is not WRITE)
                or (isinstance(chain, _Chain) and chain.is_over(exchange))
            ):
                if chain is None and len(self._chains) >= 2 * MAX_TOOLS:
                    del self._chains[next(iter(self._chains))]
                self._chains[asked] = _First(
                    outcome, exchange.arguments, exchange.epoch, exchange.batch
                )
            else:
                if isinstance(chain, _First):
                    chain = self._chains[asked] = _Chain(chain)
                found = self._judge(exchange, chain) or found
        return found

    def restart(self) -> None:
        """See `Detector.restart`."""
        for chain in self._chains.values():
            if isinstance(chain, _First):
                continue
            for count in (chain.alike, chain.all):
                count.fresh = 0
                count.corrected = count.corrected or count.told is not None
                count.told = None

    def _judge(self, exchange: Exchange, chain: _Chain) -> Finding | None:
        if chain.batch == exchange.batch or self._is_acknowledgement(exchange):
            return None
        chain.batch, chain.epoch = exchange.batch, exchange.epoch
        is_alike = self._is_alike(exchange, chain)
        add(chain.arguments, exchange.arguments, MAX_ALIKE)
        if not chain.alike.corrected and not chain.all.corrected:
            chain.alike.news = exchange.news
        chain.all.total += 1
        chain.all.fresh += 1
        chain.alike.total += is_alike
        chain.alike.fresh += is_alike
        is_ok = exchange.outcome is OK
        if not (is_ok and len(exchange.text) < MIN_CHARS):
            critical = None if exchange.effect is WRITE else self._critical_threshold
            severity = chain.alike.due(self._threshold, critical)
            if severity is not None:
                return self._finding(exchange, chain.alike.total, severity)
        if exchange.outcome is EMPTY and not is_program(exchange):
            found = exchange.tool in self._finders
            if chain.all.due(self._empty_threshold * (2 if found else 1)) is not None:
                return self._finding(exchange, chain.all.total, Severity.WARN)
        return None

    def _is_alike(self, exchange: Exchange, chain: _Chain) -> bool:
        is_ok = exchange.outcome is OK
        arguments = exchange.arguments
        if arguments == chain.arguments[-1] and exchange.outcome is not ERROR:
            spaced = exchange.gap is not None and exchange.gap >= 60  # noqa: PLR2004 - a minute
            if exchange.is_poll or spaced:
                return False
        if is_ok and len(exchange.text) >= SUBSTANCE_CHARS:
            return True
        return any(alikeness(arguments, one) >= ALIKE for one in chain.arguments)

    def _is_acknowledgement(self, exchange: Exchange) -> bool:
        if exchange.effect is WRITE:
            return exchange.outcome is OK or not exchange.text
        return exchange.outcome is OK and exchange.effect is UNCLEAR and acknowledges(exchange.text)

    def _finding(self, exchange: Exchange, times: int, severity: Severity) -> Finding:
        tool = shortened(exchange.tool)
        result = shortened(" ".join((exchange.error or exchange.text[:400]).split()), 120)
        said = f": {result.rstrip('.')}" if result else ""
        return Finding(
            detector=self.name,
            kind=Kind.REPHRASE,
            severity=severity,
            reason=f"{tool} gave the same result to {times} calls, however worded{said}",
            guidance=(
                f"You have called {tool} {times} times, and however you worded it you got the same "
                f"result{said}. Another wording will not change it. Take it as the answer, or look "
                "where you have not looked yet."
            ),
            evidence={"tool": tool, "result": result, "count": times},
        )


def asked_of(exchange: Exchange) -> tuple[str, ...]:
    """Return who was asked: the tool, and of a shell the program, too."""
    tool = exchange.tool
    if not exchange.is_shell or exchange.identity is None:
        return (tool,)
    program = exchange.identity.partition("\0")[2].partition(" ")[0]
    return (tool, f"{tool} {program}")


def is_program(exchange: Exchange) -> bool:
    """Say whether a call runs what it is given: its silence says nothing."""
    arguments = exchange.arguments
    if exchange.is_shell or arguments is None or "sql" in exchange.tool.lower():
        return True
    return not arguments.keys().isdisjoint({"command", "cmd", "code", "script", "sql"})
