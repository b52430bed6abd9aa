"""Who waits for what: agents for corrections, and for the judgement of their last span."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from otel_watchdog.errors import WatchdogError


class TooManyWaiting(WatchdogError):  # noqa: N818 - says what it is
    """As many agents wait as may."""


class Hub:
    """Wakes those that wait; holds nothing itself.

    Args:
        max_waiting: Agents that may wait at once.
    """

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._by_name: dict[tuple[str, str], set[Callable[[], None]]] = {}
        self._by_span: dict[tuple[str, int], set[asyncio.Event]] = {}
        self._waiting = 0
        self._closing = False

    @property
    def waiting(self) -> int:
        """How many agents wait for corrections."""
        return self._waiting

    @property
    def is_closing(self) -> bool:
        """Whether those that wait should go."""
        return self._closing

    @contextmanager
    def listening(self, tenant: str, name: str, wake: Callable[[], None]) -> Iterator[None]:
        """Have `wake` called whenever something is there for who asks by `name`.

        Raises:
            TooManyWaiting: There is no room for one more.
        """
        if self._waiting >= self._max_waiting:
            raise TooManyWaiting(f"{self._waiting} agents wait already")
        wakes = self._by_name.setdefault((tenant, name), set())
        wakes.add(wake)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            wakes.discard(wake)
            if not wakes:
                self._by_name.pop((tenant, name), None)

    def notify(self, tenant: str, names: Iterable[str]) -> None:
        """Wake who waits by any of these names."""
        for name in names:
            for wake in self._by_name.get((tenant, name), ()):
                wake()

    async def judged(self, tenant: str, span_id: int, seconds: float) -> None:
        """Wait until a span was judged, at most so many seconds."""
        key = (tenant, span_id)
        if len(self._by_span) >= self._max_waiting:
            return
        event = asyncio.Event()
        events = self._by_span.setdefault(key, set())
        events.add(event)
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            events.discard(event)
            if not events:
                self._by_span.pop(key, None)

    def note_judged(self, tenant: str, span_ids: Iterable[int]) -> None:
        """Wake who waits for the judgement of one of these spans."""
        if self._by_span:
            for span_id in span_ids:
                for event in self._by_span.get((tenant, span_id), ()):
                    event.set()

    def close(self) -> None:
        """Send those that wait away."""
        self._closing = True
        for wakes in self._by_name.values():
            for wake in wakes:
                wake()
        for events in self._by_span.values():
            for event in events:
                event.set()
