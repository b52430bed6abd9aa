"""OTLP/HTTP, as a plain ASGI application: nothing between the socket and the decoder."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from otel_watchdog_collector.facts import Kind
from otel_watchdog_collector.receivers import answers
from otel_watchdog_collector.receivers.door import Door, Refused, kinds

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_PROTOBUF: Final = b"application/x-protobuf"
_JSON: Final = b"application/json"


class OtlpHttpApp:
    """Answers `POST /v1/traces` and `POST /v1/logs`.

    Args:
        door: Lets requests in.
    """

    def __init__(self, door: Door) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = dict(scope["headers"])
        said = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        as_json = said == _JSON
        try:
            kind = self._kind(scope, said)
            peer = (scope.get("client") or ("unknown", 0))[0]
            client = self._door.admit(
                headers.get(b"authorization", b"").decode("latin-1") or None, peer
            )
            gzipped = self._is_gzipped(headers)
            size = self._declared(headers)
            self._door.reserve(size)
            try:
                body = await self._body(receive)
                taken = await self._door.take(client, kind, body, gzipped=gzipped)
            finally:
                self._door.free(size)
        except Refused as refusal:
            await self._refuse(send, refusal, as_json=as_json)
            return
        await _send(send, 200, answers.accepted(kind, taken, as_json=as_json), as_json=as_json)

    def _kind(self, scope: Scope, said: bytes) -> Kind:
        allowed = kinds(scope["path"])
        if allowed is None:
            raise self._door.bad(404, "no such path")
        if scope["method"] != "POST":
            raise self._door.bad(405, "POST is needed")
        if said not in {_PROTOBUF, _JSON}:
            raise self._door.bad(
                415, "content-type must be application/x-protobuf or application/json"
            )
        return allowed[said == _JSON]

    def _is_gzipped(self, headers: dict[bytes, bytes]) -> bool:
        encoding = headers.get(b"content-encoding", b"identity").strip().lower()
        if encoding not in {b"gzip", b"identity", b""}:
            raise self._door.bad(415, "content-encoding must be gzip or none")
        return encoding == b"gzip"

    def _declared(self, headers: dict[bytes, bytes]) -> int:
        """Return the length of the body; of one that does not say, the most it may have."""
        most = self._door.max_body_bytes
        text = headers.get(b"content-length", b"")
        size = int(text) if text.isdigit() else most
        if size > most:
            raise self._door.too_large()
        return size

    async def _body(self, receive: Receive) -> bytes:
        message = await receive()
        first: bytes = message.get("body", b"")
        if len(first) > self._door.max_body_bytes:
            raise self._door.too_large()
        if not message.get("more_body"):
            return first
        parts = bytearray(first)
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise self._door.bad(400, "the client went away")
            parts += message.get("body", b"")
            if len(parts) > self._door.max_body_bytes:
                raise self._door.too_large()
            if not message.get("more_body"):
                return bytes(parts)

    async def _refuse(self, send: Send, refusal: Refused, *, as_json: bool) -> None:
        seconds = self._door.retry_after_seconds
        extra = [(b"retry-after", str(seconds).encode())] if refusal.retry else []
        if refusal.status == 401:  # noqa: PLR2004 - HTTP says so
            extra.append((b"www-authenticate", b"Bearer"))
        if refusal.status == 405:  # noqa: PLR2004
            extra.append((b"allow", b"POST"))
        body = answers.refused(refusal, seconds, as_json=as_json)
        await _send(send, refusal.status, body, as_json=as_json, extra=extra)


async def _send(
    send: Send,
    status: int,
    body: bytes,
    *,
    as_json: bool,
    extra: list[tuple[bytes, bytes]] | None = None,
) -> None:
    headers = [
        (b"content-type", _JSON if as_json else _PROTOBUF),
        (b"content-length", str(len(body)).encode()),
        *(extra or ()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
