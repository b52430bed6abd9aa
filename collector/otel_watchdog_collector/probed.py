"""What probes and Prometheus ask every few seconds, answered without the API."""

from collections.abc import Callable
from typing import Any, Final

from otel_watchdog_collector.access import READ, SECURITY, Access
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.site import Asgi

_JSON: Final = "application/json"
_METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"


class Probed:
    """Answers `GET /healthz`, `/readyz` and `/metrics` as the API does, which takes fourteen MiB.

    Whatever else is asked there, and by whom it may not be, is for the API to answer.

    Args:
        site: Answers all other requests.
        access: Who may see the metrics.
        meters: They.
        is_ready: Says whether spans are taken in.
    """

    def __init__(
        self, site: Asgi, *, access: Access, meters: Meters, is_ready: Callable[[], bool]
    ) -> None:
        self._site = site
        self._access = access
        self._meters = meters
        self._is_ready = is_ready

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        path = scope.get("path") if scope.get("method") == "GET" else None
        if path == "/healthz":
            await _send(send, 200, _JSON, '{"status":"live"}')
        elif path == "/readyz" and self._is_ready():
            await _send(send, 200, _JSON, '{"status":"ready"}')
        elif path == "/readyz":
            await _send(send, 503, _JSON, '{"status":"the store fails"}')
        elif path == "/metrics" and self._may_read(dict(scope["headers"])):
            await _send(send, 200, _METRICS, self._meters.render())
        else:
            await self._site(scope, receive, send)

    def _may_read(self, headers: dict[bytes, bytes]) -> bool:
        if not self._access.is_reached_by(headers.get(b"host", b"").decode("latin-1")):
            return False
        client = self._access.client(headers.get(b"authorization", b"").decode("latin-1"))
        return client is not None and client.may(READ)


async def _send(send: Any, status: int, kind: str, text: str) -> None:
    body = text.encode()
    headers = {"content-length": str(len(body)), "content-type": kind, **SECURITY}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
