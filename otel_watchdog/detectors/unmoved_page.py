"""Finds a page in a browser that stays where it is, whatever is clicked or scrolled."""

import re
from typing import ClassVar, Final

from otel_watchdog.evidence.exchanges import ERROR, Exchange
from otel_watchdog.evidence.tallies import Tally, check_thresholds
from otel_watchdog.model import Finding, Kind, Observation, Severity, ToolResult
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

HEAD_CHARS = 1200

_ADDRESS: Final = re.compile(
    r"(?:Address|URL|\"url\")\"?:\s*\"?([^\s\"]+)|screenshot of \[.{0,300}?\]\(([^\s)]+)\)"
)
_POSITION: Final = re.compile(
    r"(?i)Viewport position:[^\n]*|positioned [^\n.]{0,60}"
    r"|\"?scroll_?(?:y|top|position)\"?\s*[:=]\s*\d+"
    r"|\d+ pixels (?:above|below)[^\n]{0,40}"
)


class UnmovedPage:
    """Fires when one call has left a page at the same address and place `threshold` times.

    Results of a browser are told anew each time, in other words or by another reading of the
    screen, so their texts differ although nothing has moved. Both the address and the place on the
    page must stand in the result: an application that pages under one address tells no place. The
    calls need not be in a row, but a word of the user or a change begins anew.

    Severity is warn: what is on the page may have changed in its place.

    Known false positive: a page that loads anew under the same address, reloaded on purpose.

    Threshold: 3, as for equal results; 2 is a double click.

    Args:
        threshold: Times that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_state", "_tally", "_threshold")

    name: ClassVar[str] = "unmoved_page"
    watches: ClassVar[tuple[type[Observation], ...]] = (ToolResult,)
    needs: ClassVar[tuple[str, ...]] = ("arguments", "results")

    def __init__(self, *, threshold: int = 3) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._tally = Tally(window_calls=40)
        self._state: tuple[str, str] | None = None

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the evidence says it all
        """See `Detector.observe`."""
        exchange = progress.exchange
        if exchange is None or exchange.identity is None or exchange.is_shell:
            return None
        state = state_of(exchange.text)
        if state is None or exchange.outcome is ERROR or exchange.is_poll:
            return None
        key = (exchange.identity, state)
        stayed = state == self._state
        self._state = state
        if not stayed and key in self._tally:
            return None
        count = self._tally.add(key, exchange, exchange.era)
        if count.due(self._threshold) is None:
            return None
        return self._finding(exchange, state[0], count.total)

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._tally.restart()

    def _finding(self, exchange: Exchange, address: str, times: int) -> Finding:
        tool, page = shortened(exchange.tool), shortened(address, 120)
        arguments = shortened(exchange.key.partition("\0")[2])
        return Finding(
            detector=self.name,
            kind=Kind.NO_PROGRESS,
            severity=Severity.WARN,
            reason=f"{tool} with {arguments} left the page where it was {times} times: {page}",
            guidance=(
                f"{tool} with {arguments} has left the page where it was {times} times ({page}). "
                "Take another control, go to the address that you want directly, or use another "
                "source."
            ),
            evidence={"tool": tool, "arguments": arguments, "page": page, "count": times},
        )


def state_of(text: str) -> tuple[str, str] | None:
    r"""Return the address of a page and the place on it, if a result tells both.

    >>> state_of("Address: https://a.org\nTitle: A\nViewport position: Showing page 1 of 3.")
    ('https://a.org', 'Viewport position: Showing page 1 of 3.')
    """
    if text.find("://", 0, HEAD_CHARS) < 0:
        return None
    head = text[:HEAD_CHARS]
    address = _ADDRESS.search(head)
    position = _POSITION.search(head)
    if address is None or position is None:
        return None
    return (address[1] or address[2]).partition("&")[0], position[0]
