"""Tells pages that what they show has changed, as server-sent events."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from otel_watchdog_collector.facts import Row, Table

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MAX_VIEWERS: Final = 1000
"""Pages that may be open at once."""

GAP_SECONDS: Final = 0.3
"""Seconds between two events of one page, at least."""

CALM_SECONDS: Final = 5.0
"""Seconds that a page goes unchanged where spans came and nothing else."""

KEEP_ALIVE_SECONDS: Final = 15.0
STREAM_SECONDS: Final = 900.0
"""Seconds after which a page connects anew, so that who may no longer look does not."""

CHANGED: Final = b"event: changed\ndata: now\n\n"

_URGENT: Final = frozenset(
    {Table.CORRECTIONS, Table.CONDITIONS, Table.INCIDENTS, Table.APPROVALS, Table.FLEET}
)
_OF_SESSION: Final = frozenset({Table.OBSERVATIONS, Table.CORRECTIONS, Table.FINDINGS, Table.RUNS})


@dataclass(slots=True, eq=False)
class Viewer:
    """One open page."""

    tenant: str
    session: str | None
    """Whose news alone it wants; `None`: the fleet's."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    calm: asyncio.Event = field(default_factory=asyncio.Event)
    """News that can wait."""


class Live:
    """Knows the open pages, and wakes them."""

    def __init__(self) -> None:
        self._viewers: set[Viewer] = set()
        self._listeners: list[Callable[[Sequence[Row]], None]] = []
        self._closing = False

    @property
    def viewers(self) -> int:
        """How many pages are open."""
        return len(self._viewers)

    @property
    def is_full(self) -> bool:
        """Whether no further page may be kept up to date."""
        return self._closing or len(self._viewers) >= MAX_VIEWERS

    def tell(self, listener: Callable[[Sequence[Row]], None]) -> None:
        """Have something called with all rows once they are in the store."""
        self._listeners.append(listener)

    def note(self, rows: Sequence[Row]) -> None:
        """Take note that rows are in the store; called in the event loop's thread."""
        for listener in self._listeners:
            listener(rows)
        for viewer in self._viewers:
            for row in rows:
                if row.tenant == viewer.tenant:
                    _tell(viewer, row)

    @contextmanager
    def viewing(self, viewer: Viewer) -> Iterator[None]:
        """Have a page woken meanwhile."""
        self._viewers.add(viewer)
        try:
            yield
        finally:
            self._viewers.discard(viewer)

    async def stream(self, viewer: Viewer, receive: Receive, send: Send) -> None:
        """Send an event whenever something changed, until the page is closed."""
        loop = asyncio.get_running_loop()
        end = loop.time() + STREAM_SECONDS
        gone = asyncio.ensure_future(_gone(receive))
        try:
            with self.viewing(viewer):
                await _part(send, b"retry: 1000\n\n")
                while not (self._closing or gone.done()) and loop.time() < end:
                    await _part(send, CHANGED if await _wait(viewer, gone) else b": alive\n\n")
                    await asyncio.wait([gone], timeout=GAP_SECONDS)
        finally:
            gone.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def close(self) -> None:
        """Send all pages away."""
        self._closing = True
        for viewer in self._viewers:
            viewer.news.set()


def _tell(viewer: Viewer, row: Row) -> None:
    if viewer.session is not None:
        if row.table in _OF_SESSION and row.fields.get("session") == viewer.session:
            viewer.news.set()
    elif row.table in _URGENT:
        viewer.news.set()
    elif row.table is Table.AGENTS:
        viewer.calm.set()


async def _wait(viewer: Viewer, gone: "asyncio.Future[None]") -> bool:
    """Wait for news; false if there were none for long, or the page was closed."""
    waited = 0.0
    while waited < KEEP_ALIVE_SECONDS:
        waiting: asyncio.Future[Any] = asyncio.ensure_future(viewer.news.wait())
        try:
            either: set[asyncio.Future[Any]] = {waiting, gone}
            await asyncio.wait(either, timeout=CALM_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if gone.done():
            return False
        if viewer.news.is_set() or viewer.calm.is_set():
            viewer.news.clear()
            viewer.calm.clear()
            return True
        waited += CALM_SECONDS
    return False


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _part(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
