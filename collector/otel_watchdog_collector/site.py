"""Which application answers a request; those for people are made when somebody first asks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from otel_watchdog_collector import feedback
from otel_watchdog_collector.web import PREFIX as PAGES

Asgi: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]
"""An application: scope, receive, send."""

_OTLP: Final = frozenset({"/v1/traces", "/v1/logs"})


class Site:
    """Everything that is asked over HTTP, as one ASGI application.

    Args:
        otlp: Receives spans and log records.
        mail: Gives corrections out.
        make_api: Returns the API.
        make_pages: Returns the pages.
    """

    def __init__(
        self,
        otlp: Asgi,
        mail: Asgi,
        *,
        make_api: Callable[[], Asgi],
        make_pages: Callable[[], Asgi],
    ) -> None:
        self._otlp = otlp
        self._mail = mail
        self._api = Later(make_api)
        self._pages = Later(make_pages)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        await self._find(scope)(scope, receive, send)

    def _find(self, scope: Any) -> Asgi:
        path = scope.get("path", "") if scope["type"] == "http" else ""
        if path in _OTLP:
            return self._otlp
        if path.startswith(feedback.PREFIX):
            return self._mail
        if path == "/" or path.startswith(PAGES):
            return self._pages
        return self._api


class Later:
    """An application that is made, once, when it is first asked; until then it takes no memory.

    Args:
        make: Returns it; called in a thread of its own, so that all else goes on meanwhile.
    """

    def __init__(self, make: Callable[[], Asgi]) -> None:
        self._make = make
        self._made: Asgi | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        made = self._made or await self._once()
        await made(scope, receive, send)

    async def _once(self) -> Asgi:
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        return self._made
