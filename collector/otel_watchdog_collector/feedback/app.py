"""`/v1/feedback/{session}`: what an agent's process asks, as a plain ASGI application."""

import asyncio
from collections.abc import MutableMapping, Sequence
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import parse_qs, unquote

import orjson

from otel_watchdog.errors import WatchdogError
from otel_watchdog.model import Mode
from otel_watchdog_collector.access import INGEST, Access
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Kind, Letter
from otel_watchdog_collector.feedback.hub import Hub, TooManyWaiting
from otel_watchdog_collector.feedback.letters import document
from otel_watchdog_collector.feedback.streams import Pulse, Receive, Send, Stream
from otel_watchdog_collector.meters import Meters

PREFIX: Final = "/v1/feedback/"

MAX_BODY_BYTES: Final = 64 * 1024
MAX_IDS: Final = 64
MAX_NAME_CHARS: Final = 512
MAX_BARRIER_MS: Final = 1000

Scope: TypeAlias = MutableMapping[str, Any]

_HEADERS: Final = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]
_STREAM_HEADERS: Final = [*_HEADERS, (b"content-type", b"text/event-stream; charset=utf-8")]
_STAGES: Final = {"lease": Kind.LEASE, "claim": Kind.CLAIM}


class Post(Protocol):
    """Where letters are."""

    def mode(self, tenant: str) -> Mode:
        """Return what may be done to a tenant's agents."""
        ...

    def waiting(self, tenant: str, name: str, agent: str | None) -> Sequence[Letter]:
        """Return the letters for who asks by `name`, oldest first."""
        ...

    def is_judged(self, tenant: str, span: int) -> bool:
        """Say whether a span was judged; it is named by its id xor its trace's."""
        ...

    async def settle(self, tenant: str, kind: Kind, ids: Sequence[str]) -> dict[str, list[str]]:
        """Note that letters are leased or claimed."""
        ...


class _Refused(Exception):  # noqa: N818 - an answer, not a failure
    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class FeedbackApp:
    """Answers agents.

    Args:
        post: Where letters are.
        hub: Wakes those that wait.
        access: Who may ask.
        config: How long one may wait.
        meters: Counts.
    """

    def __init__(
        self, post: Post, hub: Hub, *, access: Access, config: CollectorConfig, meters: Meters
    ) -> None:
        self._post = post
        self._hub = hub
        self._access = access
        self._config = config
        self._meters = meters
        self._pulse = Pulse(config.keep_alive_seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            await self._answer(scope, receive, send)
        except _Refused as refused:
            headers = _HEADERS + (
                [(b"retry-after", str(refused.retry_after).encode())] if refused.retry_after else []
            )
            await _send_json(send, refused.status, {"error": str(refused)}, headers)
        except TooManyWaiting as error:
            await self._busy(send, str(error))
        except WatchdogError as error:  # full, or no store
            await self._busy(send, str(error))

    async def _busy(self, send: Send, message: str) -> None:
        self._meters.add("refused_requests_total")
        after = str(self._config.retry_after_seconds).encode()
        await _send_json(send, 503, {"error": message}, [*_HEADERS, (b"retry-after", after)])

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        client = self._access.client(headers.get(b"authorization", b"").decode("latin-1"))
        if client is None or not client.may(INGEST):
            self._meters.add("denied_requests_total")
            raise _Refused(401 if client is None else 403, "a token of role ingest is needed")
        raw = scope.get("raw_path") or scope["path"].encode()
        path = raw.decode("latin-1").partition("?")[0].removeprefix(PREFIX)
        method = scope["method"]
        if method == "POST" and path.endswith("/ack"):
            await self._acknowledge(client.tenant, receive, send)
            return
        if method != "GET":
            raise _Refused(405, "GET, or POST to …/ack")
        name = unquote(path)
        if not name or len(name) > MAX_NAME_CHARS:
            raise _Refused(400, f"a session of 1 to {MAX_NAME_CHARS} characters is needed")
        asked = {
            key: values[-1]
            for key, values in parse_qs(scope["query_string"].decode("latin-1")).items()
        }
        judged = await self._wait_for_judgement(client.tenant, asked)
        agent = asked.get("agent")
        if b"text/event-stream" in headers.get(b"accept", b""):
            last = headers.get(b"last-event-id", b"0").decode("latin-1") or "0"
            after = int(last) if last.isascii() and last.isdigit() else 0
            await self._stream(send, receive, (client.tenant, name, agent), after)
            return
        answer = await self._once(client.tenant, name, agent, asked)
        await _send_json(send, 200, answer | judged, _HEADERS)

    async def _once(
        self, tenant: str, name: str, agent: str | None, asked: dict[str, str]
    ) -> dict[str, Any]:
        """Return what waits, now or as soon as something does."""
        seconds = _number(asked, "wait", self._config.max_wait_seconds)
        letters = self._post.waiting(tenant, name, agent)
        if not letters and seconds:
            woken = asyncio.Event()
            with self._hub.listening(tenant, name, woken.set):
                try:
                    async with asyncio.timeout(seconds):
                        while not letters and not self._hub.is_closing:
                            await woken.wait()
                            woken.clear()
                            letters = self._post.waiting(tenant, name, agent)
                except TimeoutError:
                    letters = self._post.waiting(tenant, name, agent)
        if letters and asked.get("claim") in {"1", "true"}:
            await self._post.settle(tenant, Kind.CLAIM, [letter.id for letter in letters])
        return {
            "mode": self._post.mode(tenant).label,
            "corrections": [document(letter) for letter in letters],
        }

    async def _stream(
        self, send: Send, receive: Receive, who: tuple[str, str, str | None], after: int
    ) -> None:
        """Send what waits, and whatever comes, until the client goes."""
        stream = Stream(
            lambda: self._post.waiting(*who),
            send,
            after,
            pulse=self._pulse,
            is_closing=lambda: self._hub.is_closing,
        )
        with self._hub.listening(*who[:2], stream.wake):
            await stream.serve(_STREAM_HEADERS, receive)

    async def _acknowledge(self, tenant: str, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        try:
            given = orjson.loads(body)
            ids, stage = given["ids"], given.get("stage", "claim")
            kind = _STAGES[stage]
            is_list = isinstance(ids, list) and all(isinstance(item, str) for item in ids)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            message = 'needs {"ids": [text, …], "stage": "lease" or "claim"}'
            raise _Refused(400, message) from None
        if not is_list or len(ids) > MAX_IDS or any("\n" in id_ for id_ in ids):
            raise _Refused(400, f"ids: at most {MAX_IDS} texts")
        await _send_json(send, 200, await self._post.settle(tenant, kind, ids), _HEADERS)

    async def _wait_for_judgement(self, tenant: str, asked: dict[str, str]) -> dict[str, bool]:
        """Wait until the agent's last span was judged, if it asks for that; say whether it was."""
        given = asked.get("after")
        if given is None:
            return {}
        trace, _, own = given.partition("-")
        try:
            span = int(trace, 16) ^ int(own, 16)
        except ValueError:
            raise _Refused(400, "after: <trace id>-<span id> in hexadecimal") from None
        milliseconds = _number(asked, "barrier_ms", MAX_BARRIER_MS)
        is_off = self._post.mode(tenant) is Mode.OFF  # nothing is judged
        if milliseconds and not is_off and not self._post.is_judged(tenant, span):
            await self._hub.judged(tenant, span, milliseconds / 1000)
        return {"judged": self._post.is_judged(tenant, span)}


def _number(asked: dict[str, str], name: str, most: float) -> float:
    text = asked.get(name, "0")
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise _Refused(400, f"{name}: a number from 0, got {text[:32]!r}")
    return min(value, most)


async def _body(receive: Receive) -> bytes:
    parts = bytearray()
    while True:
        message = await receive()
        parts += message.get("body", b"")
        if len(parts) > MAX_BODY_BYTES:
            raise _Refused(413, f"at most {MAX_BODY_BYTES} bytes")
        if not message.get("more_body"):
            return bytes(parts)


async def _send_json(
    send: Send, status: int, value: object, headers: list[tuple[bytes, bytes]]
) -> None:
    body = orjson.dumps(value)
    head = [*headers, (b"content-type", b"application/json")]
    head.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
