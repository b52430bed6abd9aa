"""How much one client may send."""

from collections import OrderedDict
from typing import Final

from otel_watchdog.clock import Clock

BURST_SECONDS: Final = 10.0
"""How much of its rate a client may save up."""

MAX_CLIENTS: Final = 4096
"""Clients whose budget is remembered; the least recently seen one starts anew."""


class RateLimit:
    """A budget of spans for each client, refilled every second.

    A batch is let in while anything is left, so that one larger than the whole budget is not
    refused for ever; what it takes too much is paid back before the next.

    Args:
        spans_per_second: The rate; 0: no limit.
        clock: Tells the time.
    """

    def __init__(self, spans_per_second: float, clock: Clock) -> None:
        self._rate = spans_per_second
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str) -> bool:
        """Say whether `client` has anything left."""
        return not self._rate or self._refilled(client) > 0

    def spend(self, client: str, spans: int) -> None:
        """Take `spans` from the budget of `client`."""
        if self._rate:
            self._left[client] = (self._refilled(client) - spans, self._clock())
            self._left.move_to_end(client)
            if len(self._left) > MAX_CLIENTS:
                self._left.popitem(last=False)

    def _refilled(self, client: str) -> float:
        full = self._rate * BURST_SECONDS
        left, at = self._left.get(client, (full, 0.0))
        return min(full, left + (self._clock() - at) * self._rate)
