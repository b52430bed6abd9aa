"""Server-sent events for agents that listen; while nothing comes, nothing is made anew.

Thousands of agents wait, most of the time for nothing. A stream is the task of its request, which
waits for the client to go; whoever has news has the stream write. One timer keeps all alive.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any, Final, TypeAlias

from otel_watchdog_collector.facts import Letter
from otel_watchdog_collector.feedback.letters import event

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

BEATS: Final = 4096
"""Of a timer in the time that a stream may be silent: few of thousands speak at a beat."""

_RETRY: Final = b"retry: 1000\n\n"
_ALIVE: Final = b": alive\n\n"

_logger = logging.getLogger(__name__)


class Pulse:
    """Has each open stream give a sign of life before it was silent for too long.

    Args:
        seconds: That a stream may be silent.
    """

    def __init__(self, seconds: float) -> None:
        self._beat_seconds = seconds / BEATS
        self._quiet_seconds = seconds * 7 / 8
        """After which a stream is due: all that are due at once are through in the last eighth."""
        self._spoke_at: OrderedDict[Stream, float] = OrderedDict()
        """The most silent first."""
        self.is_beating = False
        """Whether its timer runs: while a stream is open."""

    def note(self, stream: "Stream") -> None:
        """Note that a stream speaks just now."""
        self._spoke_at[stream] = asyncio.get_running_loop().time()
        self._spoke_at.move_to_end(stream)
        if not self.is_beating:
            self.is_beating = True
            self._wait()

    def forget(self, stream: "Stream") -> None:
        """Note that a stream has ended."""
        self._spoke_at.pop(stream, None)

    def _wait(self) -> None:
        """Sleep until the most silent stream is due."""
        loop = asyncio.get_running_loop()
        due = next(iter(self._spoke_at.values())) + self._quiet_seconds
        loop.call_at(max(due, loop.time() + self._beat_seconds), self._beat)

    def _beat(self) -> None:
        quiet_since = asyncio.get_running_loop().time() - self._quiet_seconds
        for _ in range(1 + 8 * len(self._spoke_at) // BEATS):
            stream, spoke_at = next(iter(self._spoke_at.items()), (None, 0.0))
            if stream is None or spoke_at > quiet_since:
                break
            self.note(stream)
            stream.wake()
        self.is_beating = bool(self._spoke_at)
        if self.is_beating:
            self._wait()


class Stream:
    """One agent's stream, from the head of its response to its end.

    Args:
        read: Returns the letters that wait for the agent, oldest first.
        send: To the client; it waits while the client does not read.
        after: Number of the last letter that the client has seen.
        pulse: Keeps it alive.
        is_closing: Says whether the service ends.
    """

    def __init__(
        self,
        read: Callable[[], Sequence[Letter]],
        send: Send,
        after: int,
        *,
        pulse: Pulse,
        is_closing: Callable[[], bool],
    ) -> None:
        self._read = read
        self._send = send
        self._after = after
        self._pulse = pulse
        self._is_closing = is_closing
        self._is_open = False
        self._is_woken = False
        self._writing: asyncio.Task[None] | None = None

    async def serve(self, head: Sequence[tuple[bytes, bytes]], receive: Receive) -> None:
        """Write what waits and whatever comes, until the client goes or the service ends.

        Args:
            head: Headers of the response.
            receive: From the client.
        """
        start = {"type": "http.response.start", "status": 200, "headers": head}
        try:
            await self._send(start)
            await self._say(_RETRY)
            self._is_open = True
            self.wake()
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._is_open = False
            self._pulse.forget(self)
            if self._writing is not None:
                self._writing.cancel()

    def wake(self) -> None:
        """Have it write what there is; a sign of life, if there is nothing."""
        self._is_woken = True
        if self._is_open and self._writing is None:
            self._writing = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        try:
            while self._is_woken:
                self._is_woken = False
                await self._say(self._news() or _ALIVE)
            if self._is_closing():
                await self._end()
        except Exception:
            _logger.exception("a stream of corrections ends")
            await self._end()
        finally:
            self._writing = None

    def _news(self) -> bytes:
        news = [letter for letter in self._read() if letter.seq > self._after]
        if news:
            self._after = news[-1].seq
        return b"".join(map(event, news))

    async def _say(self, text: bytes) -> None:
        self._pulse.note(self)
        await self._send({"type": "http.response.body", "body": text, "more_body": True})

    async def _end(self) -> None:
        """End the response: the client is told so as if it had gone."""
        self._is_open = False
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
