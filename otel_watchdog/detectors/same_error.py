"""Finds one error that comes back whatever is called."""

from typing import ClassVar, NamedTuple

from otel_watchdog.evidence.exchanges import AUTH, ERROR, EXECUTE, SERVER, Exchange
from otel_watchdog.evidence.likeness import alikeness, is_sweep
from otel_watchdog.evidence.recent import add
from otel_watchdog.evidence.tallies import Tally, check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

ALIKE = 0.8
SWEEP = 10


class _Error(NamedTuple):
    number: int
    signature: str
    exchange: Exchange


class SameError:
    """Fires when calls fail `threshold` times with the same error, whatever they are.

    The same is an error by its telling line, without numbers, ids and what the call itself put in.
    For equal or hardly changed calls `alike_threshold` is enough. Reading or thinking in between
    clears nothing, a new change or the user does, and so do fewer failing tests. Exactly the same
    text from one tool fires at `threshold` within `far_window_calls` even across those, but for
    programs run after a change: that is `failing_check`'s. Going through a list by id, host or role
    fires only at ten and never critically.

    Severity is warn, and critical from `critical_threshold` on. Overload and refused connections
    are `provider_failure`'s, refused credentials `auth_wall`'s.

    Known false positive: three usage errors of one command on the way to the right spelling.

    Thresholds: 4 finds 42 of 92 stuck real runs and no other, 3 finds 48 and one other; with alike
    arguments 3 costs that one false alarm and finds four more.

    Args:
        threshold: Errors that fire, at least 2.
        alike_threshold: Errors of equal or alike calls that fire.
        critical_threshold: Errors that are critical.
        window_calls: Calls within which they stand.
        far_window_calls: The same for equal texts of one tool.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = (
        "_alike_threshold",
        "_critical_threshold",
        "_era",
        "_errors",
        "_far",
        "_tally",
        "_threshold",
        "_window_calls",
    )

    name: ClassVar[str] = "same_error"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(
        self,
        *,
        threshold: int = 4,
        alike_threshold: int = 3,
        critical_threshold: int = 5,
        window_calls: int = 10,
        far_window_calls: int = 40,
    ) -> None:
        check_thresholds(self.name, threshold, critical_threshold)
        check_thresholds(self.name, alike_threshold, option="alike_threshold")
        self._threshold = threshold
        self._alike_threshold = alike_threshold
        self._critical_threshold = critical_threshold
        self._window_calls = window_calls
        self._errors: list[_Error] = []
        self._tally = Tally(max_keys=16)
        self._far = Tally(max_keys=32, window_calls=far_window_calls)
        self._era = 0

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None:
            return None
        if exchange.era != self._era or (exchange.is_novel and exchange.low is not None):
            self._era = exchange.era
            self._errors.clear()
            self._tally.clear()
        signature = exchange.signature
        if exchange.outcome is not ERROR or not signature:
            return None
        if exchange.trouble is SERVER or exchange.identity is None:
            return None
        return self._near(exchange, signature) or self._across(exchange, signature)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._tally.restart()
        self._far.restart()

    def _near(self, exchange: Exchange, signature: str) -> Finding | None:
        errors = self._errors
        if exchange.in_batch and errors and errors[-1][:2] == (exchange.number - 1, signature):
            return None
        add(errors, _Error(exchange.number, signature, exchange), self._window_calls)
        first = exchange.number - self._window_calls
        count = self._tally.add(signature, exchange, exchange.epoch)
        if count.total < self._alike_threshold:
            return None
        same = [
            error.exchange
            for error in errors
            if error.signature == signature
            and error.number > first
            and error.exchange.epoch == exchange.epoch
        ]
        times = len(same)
        count.total = min(count.total, times)
        count.fresh = min(count.fresh, times)
        threshold, critical = self._threshold, self._critical_threshold
        if times < threshold:
            alike = sum(_is_alike(error, exchange) for error in same)
            threshold = self._alike_threshold if alike >= self._alike_threshold else threshold
        severity = count.due(SWEEP) if is_sweep(same) else count.due(threshold, critical)
        return None if severity is None else self._finding(same, signature, severity)

    def _across(self, exchange: Exchange, signature: str) -> Finding | None:
        """Judge equal texts of one tool, whatever was changed or said in between."""
        if exchange.in_batch or exchange.digest is None:
            return None
        count = self._far.add((exchange.tool, exchange.digest), exchange, 0)
        if count.total < self._threshold:
            return None
        if exchange.epoch and exchange.effect is EXECUTE:
            return None
        lately = [error.exchange for error in self._errors if error.exchange.tool == exchange.tool]
        if (lately and is_sweep(lately)) or count.due(self._threshold) is None:
            return None
        return self._finding([exchange] * count.total, signature, Severity.WARN)

    def _finding(self, same: list[Exchange], signature: str, severity: Severity) -> Finding:
        tools = shortened(", ".join(dict.fromkeys(exchange.tool for exchange in same)))
        error = shortened(same[-1].error or signature)
        times = len(same)
        is_auth = same[-1].trouble is AUTH
        way_out = (
            "The credential is refused, and no other call will change that: say so."
            if is_auth
            else "Remove the cause before you call again, or take a way that does not need it."
        )
        return Finding(
            detector=self.name,
            kind=Kind.SAME_ERROR,
            severity=severity,
            reason=f"{times} calls failed with the same error ({tools}): {error}",
            guidance=(
                f"{times} of your last calls ({tools}) failed with the same error: {error}. "
                f"It does not come from how you worded the call. {way_out}"
            ),
            evidence={"tools": tools, "error": error, "count": times},
        )


def _is_alike(one: Exchange, other: Exchange) -> bool:
    return one.tool == other.tool and (
        one.identity == other.identity or alikeness(other.arguments, one.arguments) >= ALIKE
    )
