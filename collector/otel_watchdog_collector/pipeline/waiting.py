"""What waits for the next commit, and who is told when it is in the store."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from otel_watchdog.errors import WatchdogError
from otel_watchdog_collector.facts import Entry, Parcel
from otel_watchdog_collector.stores import StoreError
from otel_watchdog_collector.wire import Batch


class Full(WatchdogError):  # noqa: N818 - says what it is
    """Nothing more can be taken in now; the same request may be sent again."""


class Waiting(NamedTuple):
    """An entry that waits."""

    entry: Entry
    batch: Batch | None
    parcels: Sequence[Parcel]
    done: "asyncio.Future[None]"

    def answer(self, error: StoreError | None) -> None:
        """Tell who waits that it is done, or why it is not."""
        answer(self.done, error)


def take_group(waiting: deque[Waiting], max_bytes: int) -> list[Waiting]:
    """Take entries that go into one commit, in order.

    Args:
        waiting: Where from.
        max_bytes: Bytes of entries after which no more are taken.
    """
    group: list[Waiting] = []
    size = 0
    while waiting and size < max_bytes:
        group.append(waiting.popleft())
        size += len(group[-1].entry.body)
    return group


class Promises:
    """Who waits for rows to be in the store."""

    def __init__(self) -> None:
        self._given: list[asyncio.Future[None]] = []

    def __len__(self) -> int:
        """Return how many wait."""
        return len(self._given)

    def give(self) -> "asyncio.Future[None]":
        """Return what is done as soon as all rows of now are in the store."""
        promise: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._given.append(promise)
        return promise

    def settle(self, count: int, error: StoreError | None = None) -> None:
        """Tell the first of them that it is done, or why it is not."""
        settled, self._given = self._given[:count], self._given[count:]
        for promise in settled:
            answer(promise, error)


def answer(future: "asyncio.Future[None]", error: StoreError | None) -> None:
    """Tell who waits, unless nobody does any more."""
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
