"""Who is signed in: a cookie stands for a client; the token itself is kept nowhere."""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from threading import Lock
from typing import Final

from otel_watchdog_collector.access import Client
from otel_watchdog_collector.clock import WallClock

COOKIE: Final = "otel_watchdog"

LOGIN_SECONDS: Final = 12 * 3600.0
"""Seconds after which one must sign in again."""

MAX_LOGINS: Final = 10_000
"""People signed in at once; the one who came first is signed out first."""

NOBODY: Final = "nobody"
"""What stands for the cookie where no token is asked for."""


class Logins:
    """Keeps who is signed in, in memory: a restart signs everybody out.

    Args:
        clock: Time of day.
    """

    def __init__(self, clock: WallClock) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._lock = Lock()
        self._clients: OrderedDict[str, tuple[Client, float]] = OrderedDict()
        """By the digest of a cookie: who, until when."""

    def open(self, client: Client) -> str:
        """Sign a client in; return the cookie's value."""
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            self._clients[_digest(cookie)] = (client, self._clock() + LOGIN_SECONDS)
            if len(self._clients) > MAX_LOGINS:
                self._clients.popitem(last=False)
        return cookie

    def client(self, cookie: str | None) -> Client | None:
        """Return who sends this cookie; `None` if nobody that is signed in."""
        if not cookie:
            return None
        client, until = self._clients.get(_digest(cookie), (None, 0.0))
        return client if client is not None and self._clock() < until else None

    def close(self, cookie: str | None) -> None:
        """Sign out."""
        with self._lock:
            self._clients.pop(_digest(cookie or ""), None)

    def stamp(self, cookie: str | None) -> str:
        """Return what a form must hold that this cookie comes with: no other site knows it."""
        return hmac.new(self._key, (cookie or NOBODY).encode(), hashlib.sha256).hexdigest()

    def is_stamp(self, cookie: str | None, given: str) -> bool:
        """Say whether a form holds what `stamp` returned."""
        return hmac.compare_digest(self.stamp(cookie), given.encode("ascii", "replace").decode())


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()
