"""What a fleet service offers an agent's process: a stream of corrections a session, and an ear."""

import contextlib
import http.client
import logging
import socket
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

import orjson

from otel_watchdog.errors import ConfigError, InputError
from otel_watchdog.model import Correction
from otel_watchdog.transport import event_stream, web
from otel_watchdog.transport.background import Worker

CONNECT_SECONDS: Final = 5.0
MAX_BACKOFF_SECONDS: Final = 30.0

FAILURES: Final = (OSError, http.client.HTTPException, InputError, ValueError)
"""What may come of asking a service that is gone, slow, or somebody else."""

_OK: Final = 200
_BUSY: Final = {408, 429}
_SERVER_ERROR: Final = 500

_logger = logging.getLogger(__name__)


def _nothing() -> None:
    pass


class FeedbackApi:
    """`/v1/feedback/{session}` of a service.

    Args:
        url: Of the service, such as `http://collector:4318`.
        token: Shown as a bearer token.
        setting: Named in errors.

    Raises:
        ConfigError: The URL or the token is wrong.
    """

    def __init__(self, url: str, *, token: str | None, setting: str) -> None:
        self._address = web.Address(url, setting=setting)
        if "?" in self._address.path:
            raise ConfigError(f"{setting} must have no query")
        self._headers = web.bearer(token)

    def __str__(self) -> str:
        return str(self._address)

    def stream(
        self,
        session: str,
        *,
        last_id: str,
        timeout_seconds: float,
        on_open: Callable[[socket.socket], None],
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Ask for a session's stream; both are the caller's to close.

        Args:
            session: Whose.
            last_id: The id of the last event that was seen; "" where none was.
            timeout_seconds: Silence after which the stream counts as broken.
            on_open: Called with the socket, before an answer is waited for.

        Raises:
            OSError: There was no answer.
            http.client.HTTPException: It was none that HTTP knows.
        """
        connection = self._address.connection(CONNECT_SECONDS)
        headers = {"Accept": "text/event-stream", "User-Agent": web.AGENT, **self._headers}
        if last_id:
            headers["Last-Event-ID"] = last_id
        try:
            connection.connect()
            connection.sock.settimeout(timeout_seconds)
            on_open(connection.sock)
            connection.request("GET", self._path(session), headers=headers)
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def take(self, session: str, *, timeout_seconds: float = CONNECT_SECONDS) -> list[Correction]:
        """Return what waits for a session now, and have it count as claimed.

        Raises:
            OSError: There was no answer.
            http.client.HTTPException: It was none that HTTP knows.
            InputError: It was none of this service.
        """
        _, given = self._get(session, "claim=1", timeout_seconds)
        return [event_stream.as_correction(one, session=session) for one in given]

    def judged(
        self,
        session: str,
        after: str,
        *,
        wait_ms: float,
        timeout_seconds: float,
        on_open: Callable[[socket.socket], None],
    ) -> tuple[bool, list[Any]]:
        """Ask whether a span was judged, and for what waits then; nothing counts as claimed.

        Args:
            session: Whose.
            after: The span: `<trace id>-<span id>` in hexadecimal.
            wait_ms: How long the service may wait for it, at most 1000.
            timeout_seconds: No single wait for the service takes longer.
            on_open: Called with the socket, before an answer is waited for.

        Returns:
            Whether it was, and what is to be read `as_correction`.

        Raises:
            OSError: There was no answer.
            http.client.HTTPException: It was none that HTTP knows.
            InputError: It was none of this service.
        """
        query = f"after={after}&barrier_ms={wait_ms:.3f}"
        given, found = self._get(session, query, timeout_seconds, on_open)
        return given.get("judged") is True, found

    def acknowledge(self, session: str, stage: str, ids: list[str]) -> bool:
        """Tell that corrections were leased or claimed; false if it is to be told again."""
        try:
            answer = self._address.post(
                f"{self._path(session)}/ack",
                orjson.dumps({"ids": ids, "stage": stage}),
                headers=self._headers,
                timeout_seconds=CONNECT_SECONDS,
            )
        except FAILURES:
            return False
        return answer.status not in _BUSY and answer.status < _SERVER_ERROR

    def _get(
        self,
        session: str,
        query: str,
        timeout_seconds: float,
        on_open: Callable[[socket.socket], None] | None = None,
    ) -> tuple[dict[str, Any], list[Any]]:
        """Return an answer, and the corrections in it."""
        connection = self._address.connection(timeout_seconds)
        headers = {"User-Agent": web.AGENT, **self._headers}
        with contextlib.closing(connection):
            connection.connect()
            if on_open is not None:
                on_open(connection.sock)
            connection.request("GET", f"{self._path(session)}?{query}", headers=headers)
            answer = connection.getresponse()
            body = answer.read(event_stream.MAX_EVENT_BYTES)
        if answer.status != _OK:
            raise InputError(f"{self}: answered {answer.status}")
        try:
            given = orjson.loads(body)
            return given, list(given["corrections"])
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"{self}: {type(error).__name__}: {error}") from None

    def _path(self, session: str) -> str:
        return f"{self._address.path}/v1/feedback/{quote(session, safe='')}"


class Stream:
    """One session's stream on a thread of its own, taken up again whenever it breaks.

    Args:
        api: The service.
        session: Whose stream.
        take: Called with each correction, on the thread.
        silence_seconds: After which the stream counts as broken.
        backoff: Returns the seconds to wait before the next try, by how many failed.
        on_sign: Called with each sign of the service, on the thread.
        on_break: Called when the stream breaks or is refused, likewise.
    """

    def __init__(  # noqa: PLR0913 - it is made in one place
        self,
        api: FeedbackApi,
        session: str,
        take: Callable[[Correction], None],
        *,
        silence_seconds: float,
        backoff: Callable[[int], float],
        on_sign: Callable[[], None] = _nothing,
        on_break: Callable[[], None] = _nothing,
    ) -> None:
        self._api = api
        self._session = session
        self._take = take
        self._silence_seconds = silence_seconds
        self._backoff = backoff
        self._on_sign = on_sign
        self._on_break = on_break
        self._last_id = ""
        self._failures = 0
        self._socket: socket.socket | None = None
        self._worker = Worker(self._work, name="watchdog-http_stream")

    def open(self) -> None:
        """Begin to listen; returns at once."""
        self._worker.wake()

    def close(self, timeout_seconds: float) -> None:
        """Stop listening, also in the middle of a wait for what comes."""
        self._worker.close(0)
        open_socket = self._socket
        if open_socket is not None:
            with contextlib.suppress(OSError):  # it is closed already
                open_socket.shutdown(socket.SHUT_RDWR)
        self._worker.close(timeout_seconds)

    def _work(self) -> float:
        """Read until the stream breaks; return how long to wait before the next try."""
        if self._worker.is_closing:
            return 0
        asked = 0.0
        try:
            asked = self._read()
        except FAILURES as error:
            self._note(str(error) or type(error).__name__)
        self._failures += 1
        self._on_break()
        return max(asked, self._backoff(self._failures))

    def _read(self) -> float:
        try:
            connection, answer = self._api.stream(
                self._session,
                last_id=self._last_id,
                timeout_seconds=self._silence_seconds,
                on_open=self._hold,
            )
            with contextlib.closing(connection), contextlib.closing(answer):
                if answer.status != _OK:
                    self._note(f"it answered {answer.status}")
                    return web.retry_after(answer, MAX_BACKOFF_SECONDS)
                self._follow(answer)
        finally:
            self._socket = None
        return 0

    def _hold(self, open_socket: socket.socket) -> None:
        """Keep the socket at hand, so that closing need not wait for the service."""
        self._socket = open_socket
        if self._worker.is_closing:
            raise ConnectionAbortedError("closing")

    def _follow(self, answer: http.client.HTTPResponse) -> None:
        def readline(most: int) -> bytes:
            line = answer.readline(most)
            if line:
                self._on_sign()
            return line

        for event in event_stream.events(readline, last_id=self._last_id):
            self._failures = 0
            if event.name == "correction":
                try:
                    self._take(event_stream.correction(event.data, session=self._session))
                except InputError as error:
                    self._note(str(error))
            self._last_id = event.id
            if self._worker.is_closing:
                return

    def _note(self, what: str) -> None:
        if self._failures == 0 and not self._worker.is_closing:
            _logger.info("no corrections from %s for now: %s", self._api, what)
