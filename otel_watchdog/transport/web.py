"""A little HTTP for channels: one address, its own connections, no redirects, no cookies."""

import http.client
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from otel_watchdog.errors import ConfigError
from otel_watchdog.version import VERSION

MAX_ANSWER_BYTES: Final = 64 * 1024
"""What is read of an answer that is not a stream."""


class Address:
    """Where a service listens.

    >>> str(Address("http://collector:4318/base/", setting="url"))
    'http://collector:4318/base'

    Args:
        url: `http://` or `https://`, a host, perhaps a port and a path.
        setting: Named in errors.

    Raises:
        ConfigError: It is no such URL, or it holds a password.
    """

    def __init__(self, url: str, *, setting: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"{setting}: {error}") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            shown = f"{parts.scheme}://{parts.hostname or ''}"  # what follows may be a secret
            raise ConfigError(f"{setting} must be http://… or https://…, got {shown!r}…")
        if parts.username is not None or parts.password is not None:
            raise ConfigError(f"{setting} must hold no user and password: give a token")
        self._context: ssl.SSLContext | None = None
        self._is_secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = port
        self.path = parts.path.rstrip("/") + (f"?{parts.query}" if parts.query else "")
        self._shown = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"

    def __str__(self) -> str:
        return self._shown

    def connection(self, timeout_seconds: float) -> http.client.HTTPConnection:
        """Return a connection that is not open yet; no single wait on it takes longer."""
        if self._is_secure:
            if self._context is None:  # it takes tens of milliseconds to read all authorities
                self._context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host,
                self._port,
                timeout=timeout_seconds,
                context=self._context,
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout_seconds)

    def post(
        self, path: str, body: bytes, *, headers: Mapping[str, str], timeout_seconds: float
    ) -> http.client.HTTPResponse:
        """Send JSON; return the answer, which was read.

        Raises:
            OSError: There was no answer.
            http.client.HTTPException: It was none that HTTP knows.
        """
        connection = self.connection(timeout_seconds)
        try:
            connection.request(
                "POST",
                path,
                body,
                {"Content-Type": "application/json", "User-Agent": AGENT, **headers},
            )
            answer = connection.getresponse()
            answer.read(MAX_ANSWER_BYTES)
            return answer
        finally:
            connection.close()


AGENT: Final = f"otel-watchdog/{VERSION}"
"""What we call ourselves."""


def bearer(token: str | None) -> dict[str, str]:
    """Return the header that shows a token; none without one.

    Raises:
        ConfigError: The token cannot stand in a header.
    """
    if token is None:
        return {}
    if not token or not token.isascii() or not token.isprintable():
        raise ConfigError("token must be printable ASCII, and not empty")
    return {"Authorization": f"Bearer {token}"}


def retry_after(answer: http.client.HTTPResponse, most: float) -> float:
    """Return the seconds that an answer asks to wait; 0 where it asks for none."""
    text = (answer.getheader("Retry-After") or "").strip()
    return min(float(text), most) if text.isascii() and text.isdigit() else 0.0
