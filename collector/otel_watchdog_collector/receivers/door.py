"""What both doors do: let in or refuse, decode, hand on, and say what became of it."""

from collections.abc import Awaitable, Callable, Container, Sequence
from typing import NamedTuple, TypeAlias

from otel_watchdog.errors import InputError, WatchdogError
from otel_watchdog_collector.access import INGEST, Access, Client
from otel_watchdog_collector.clock import WallClock
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Entry, Kind
from otel_watchdog_collector.limits import RateLimit
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.wire import Batch, BodyTooLarge, Limits, decode, gunzip

Submit: TypeAlias = Callable[[Entry, Batch], Awaitable[None]]
"""Takes in an entry; returns when it is kept and judged. Raises a `WatchdogError` if it was not."""

PlainNamesOf: TypeAlias = Callable[[str], Callable[[str], Container[str]]]
"""Returns, for a tenant, what tells which spans need not be read."""


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """A request that was not taken in.

    Args:
        status: HTTP status.
        message: One line that says why, without content of the request.
        retry: Whether the same request may be sent again.
    """

    def __init__(self, status: int, message: str, *, retry: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.retry = retry


class Taken(NamedTuple):
    """What became of a request that was taken in."""

    rejected: int
    reason: str


class Door:
    """Lets requests in.

    Args:
        submit: Where they go.
        plain_names_of: Which spans need not be read.
        access: Who may come in.
        config: How large a request may be.
        rate: How much a client may send.
        meters: Counts.
        clock: Tells the time of day.
    """

    def __init__(  # noqa: PLR0913 - a door knows many rules
        self,
        submit: Submit,
        plain_names_of: PlainNamesOf,
        *,
        access: Access,
        config: CollectorConfig,
        rate: RateLimit,
        meters: Meters,
        clock: WallClock,
    ) -> None:
        self._submit = submit
        self._plain_names_of = plain_names_of
        self._access = access
        self._config = config
        self._rate = rate
        self._meters = meters
        self._clock = clock
        self._limits = Limits(config.max_attributes, config.max_attribute_chars)
        self._in_work = 0

    @property
    def max_body_bytes(self) -> int:
        """Bytes of one request as sent that are allowed."""
        return self._config.max_body_bytes

    def admit(self, authorization: str | None, peer: str) -> Client:
        """Return who asks.

        Args:
            authorization: The header.
            peer: Address of the other end; where there are no tokens, it is the client.

        Raises:
            Refused: Nobody that may send spans, or one that has sent too many.
        """
        client = self._access.client(authorization)
        if client is None or not client.may(INGEST):
            self._meters.add("denied_requests_total")
            raise Refused(401 if client is None else 403, "a token of role ingest is needed")
        if self._access.is_open:
            client = client._replace(name=peer)
        if not self._rate.allows(client.name):
            self._meters.add("refused_requests_total")
            raise Refused(429, "more spans a second than allowed", retry=True)
        return client

    def too_large(self) -> Refused:
        """Return the answer to a body that is too large."""
        self._meters.add("bad_requests_total")
        return Refused(413, f"a body of more than {self._config.max_body_bytes} bytes")

    def bad(self, status: int, message: str) -> Refused:
        """Return the answer to a request that will never do."""
        self._meters.add("bad_requests_total")
        return Refused(status, message)

    def busy(self, message: str) -> Refused:
        """Return the answer to a request that may be sent again."""
        self._meters.add("refused_requests_total")
        return Refused(503, message, retry=True)

    def reserve(self, size: int) -> None:
        """Set room aside for a body that is being read.

        Raises:
            Refused: There is none.
        """
        if self._in_work + size > self._config.max_waiting_bytes:
            raise self.busy("too much is in work")
        self._in_work += size

    def free(self, size: int) -> None:
        """Give room back."""
        self._in_work -= size

    async def take(self, client: Client, kind: Kind, body: bytes, *, gzipped: bool) -> Taken:
        """Take in the body of a request.

        Args:
            client: Who sent it.
            kind: What it is.
            body: As it was sent.
            gzipped: Whether it is compressed.

        Raises:
            Refused: It was not taken in.
        """
        try:
            plain = self._plain_names_of(client.tenant)
            whole = body
            if gzipped:
                whole = gunzip(body, max_bytes=self._config.max_decompressed_bytes)
            batch = decode(kind, whole, self._limits, plain=plain)
        except BodyTooLarge as error:
            raise self.bad(413, str(error)) from None
        except InputError as error:
            raise self.bad(400, str(error)) from None
        except WatchdogError as error:
            raise self.busy(str(error)) from None
        if batch.rejected:
            self._meters.add("rejected_spans_total", batch.rejected)
        if batch.spans or batch.records:
            entry = Entry(kind, client.tenant, self._clock(), body, gzipped)
            try:
                await self._submit(entry, batch)
            except WatchdogError as error:
                raise self.busy(str(error)) from None
        self._rate.spend(client.name, len(batch.spans) + len(batch.records))
        self._meters.add("received_spans_total", len(batch.spans))
        self._meters.add("received_log_records_total", len(batch.records))
        return Taken(batch.rejected, batch.reason)

    @property
    def retry_after_seconds(self) -> int:
        """What refused clients are asked to wait."""
        return self._config.retry_after_seconds


def kinds(path: str) -> Sequence[Kind] | None:
    """Return what a path takes, protobuf first; `None` for another path."""
    return _KINDS.get(path)


_KINDS: dict[str, Sequence[Kind]] = {
    "/v1/traces": (Kind.TRACES_PROTOBUF, Kind.TRACES_JSON),
    "/v1/logs": (Kind.LOGS_PROTOBUF, Kind.LOGS_JSON),
}
