"""Who may do what: bearer tokens with a role, each for one tenant."""

import hashlib
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from otel_watchdog_collector.config import TokenConfig, is_loopback

INGEST: Final = "ingest"
READ: Final = "read"
OPERATE: Final = "operate"
ADMIN: Final = "admin"

SECURITY: Final = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Headers of every answer of the API; there is no CORS header: pages of other sites get nothing."""

_MAY: Final = {
    INGEST: frozenset({INGEST}),
    READ: frozenset({READ}),
    OPERATE: frozenset({READ, OPERATE}),
    ADMIN: frozenset({INGEST, READ, OPERATE, ADMIN}),
}


class Client(NamedTuple):
    """Who asks."""

    name: str
    """The token's name; never the token."""
    tenant: str
    role: str

    def may(self, action: str) -> bool:
        """Say whether the role allows `action`.

        >>> Client("ci", "default", READ).may(INGEST)
        False
        """
        return action in _MAY[self.role]


ANYBODY: Final = Client("anybody", "default", ADMIN)
"""Whoever reaches a service that has no tokens; it listens on loopback alone."""


class Access:
    """Finds the client that a request's `Authorization` header stands for.

    Args:
        tokens: Those that are valid; none: everybody may do everything.
    """

    def __init__(self, tokens: Iterable[TokenConfig] = ()) -> None:
        self._clients = {
            token.sha256 or digest(token.token or ""): Client(token.name, token.tenant, token.role)
            for token in tokens
        }

    def is_reached_by(self, host: str | None) -> bool:
        """Say whether a request may come by this name, the `Host` header of HTTP.

        Without tokens it has to be this machine's: a browser that another site's name leads to
        loopback would else act for that site.
        """
        return not self.is_open or is_loopback(urlsplit(f"//{host or ''}").hostname or "")

    @property
    def is_open(self) -> bool:
        """Whether no token is asked for."""
        return not self._clients

    def client(self, authorization: str | None) -> Client | None:
        """Return who sends this header; `None` if nobody that is known.

        Args:
            authorization: `Bearer <token>`.
        """
        if not self._clients:
            return ANYBODY
        scheme, _, secret = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        # Looking up the digest, not the secret, tells nothing by the time it takes.
        return self._clients.get(digest(secret.strip()))


def digest(secret: str) -> str:
    """Return the SHA-256 of a token in hexadecimal, as `sha256` in the settings wants it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
