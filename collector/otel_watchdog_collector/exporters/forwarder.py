"""Sends parcels to one destination by OTLP/HTTP, in order, until they are accepted."""

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from otel_watchdog_collector.config import DestinationConfig
from otel_watchdog_collector.facts import Parcel
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.stores import Store, StoreError

if TYPE_CHECKING:
    import httpx

MAX_BATCH: Final = 32
"""Parcels that are read from the store at once."""

FIRST_WAIT_SECONDS: Final = 0.5
MAX_WAIT_SECONDS: Final = 30.0
IDLE_SECONDS: Final = 1.0

_RETRYABLE: Final = frozenset({408, 429, 502, 503, 504})

_logger = logging.getLogger(__name__)


class Forwarder:
    """Sends what waits in the store; what is refused for good is given up and counted.

    Args:
        destination: Where to.
        store: Where parcels wait.
        meters: Counts.
        max_parcels: Parcels that may wait.
    """

    def __init__(
        self, destination: DestinationConfig, store: Store, *, meters: Meters, max_parcels: int
    ) -> None:
        self._destination = destination
        self._store = store
        self._meters = meters
        self._max_parcels = max_parcels
        self._count = 0
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def has_room(self) -> bool:
        """Whether another parcel may wait."""
        return self._count < self._max_parcels

    def put(self) -> None:
        """Note that a parcel goes into the store."""
        self._count += 1
        self._wake.set()

    def start(self) -> None:
        """Begin to send."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self, seconds: float) -> None:
        """Send what waits, at most for so long; the rest waits for the next start."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        import httpx  # noqa: PLC0415 - MiB that a service without destinations does not need

        async with httpx.AsyncClient(
            timeout=self._destination.timeout_seconds,
            headers=self._destination.headers,
            follow_redirects=False,
        ) as client:
            wait = FIRST_WAIT_SECONDS
            while True:
                try:
                    done = await self._send_some(client)
                except (httpx.HTTPError, StoreError, _LaterError) as error:
                    self._meters.add("failed_exports_total")
                    _logger.warning("%s: not sent, %s", self._destination.name, error)
                    if self._closing:
                        return
                    await self._pause(wait)
                    wait = min(wait * 2, MAX_WAIT_SECONDS)
                    continue
                wait = FIRST_WAIT_SECONDS
                if not done:
                    if self._closing:
                        return
                    await self._pause(IDLE_SECONDS)

    async def _pause(self, seconds: float) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _send_some(self, client: "httpx.AsyncClient") -> bool:
        """Send the oldest parcels; return whether there were any."""
        name = self._destination.name
        parcels = await asyncio.to_thread(self._store.parcels, name, MAX_BATCH)
        self._count = (
            await asyncio.to_thread(self._store.waiting_parcels, name)
            if len(parcels) == MAX_BATCH
            else len(parcels)
        )
        sent: list[str] = []
        try:
            for parcel in parcels:
                await self._send(client, parcel)
                sent.append(parcel.id)
        finally:
            if sent:
                await asyncio.to_thread(self._store.sent, name, sent)
                self._count = max(0, self._count - len(sent))
        return bool(parcels)

    async def _send(self, client: "httpx.AsyncClient", parcel: Parcel) -> None:
        headers = {"content-type": parcel.content_type}
        if parcel.gzipped:
            headers["content-encoding"] = "gzip"
        url = self._destination.endpoint.rstrip("/") + parcel.path
        answer = await client.post(url, content=parcel.body, headers=headers)
        if answer.status_code in _RETRYABLE:
            raise _LaterError(f"HTTP {answer.status_code}")
        if answer.is_success:
            self._meters.add("exported_batches_total")
        else:
            self._meters.add("dropped_exports_total")
            _logger.error(
                "%s refused a batch for good: HTTP %d", self._destination.name, answer.status_code
            )


class _LaterError(Exception):
    """The destination asks to be tried again."""
