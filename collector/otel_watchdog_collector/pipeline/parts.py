"""What who serves and its workers hand each other, and what stands in a snapshot of theirs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from otel_watchdog import semconv
from otel_watchdog.spans import LogRecord
from otel_watchdog_collector.facts import Entry
from otel_watchdog_collector.wire import Batch, Limits, PlainNames, decode, gunzip

MAX_BYTES: Final = 1 << 30
"""Of a body that was taken in, after decompression."""

_ROUTES: Final = "/routes/"
"""Opens the name of a tenant's routes in a snapshot; no tenant's name has a `/`."""


class Part(NamedTuple):
    """A worker's part of an entry."""

    entry: Entry
    """Without a body, where nothing of it is for this worker: time goes on for all."""
    traces: frozenset[int] = frozenset()
    """Ids of the traces that it judges, of an entry of spans or log records; see `trace_of`."""


class Frame(NamedTuple):
    """A tenant's state, or that of a part of its sessions."""

    tenant: str
    worker: int | None
    """Whose it was; `None`: of who serves."""
    of: int
    """How many workers there were."""
    body: bytes


class Kept(NamedTuple):
    """What a snapshot holds."""

    frames: Sequence[Frame] = ()
    """Of each tenant, that of who serves comes last."""
    routes: Mapping[str, bytes] = {}
    """What a tenant's routes knew, by its name."""

    def bodies(self) -> dict[str, list[bytes]]:
        """Return all states of each tenant, by its name."""
        found: dict[str, list[bytes]] = {}
        for frame in self.frames:
            found.setdefault(frame.tenant, []).append(frame.body)
        return found

    def named(self) -> list[tuple[str, bytes]]:
        """Return all under names that say what each is; see `kept`."""
        named = [(_ROUTES + tenant, body) for tenant, body in self.routes.items()]
        for tenant, worker, of, body in self.frames:
            named.append((tenant if worker is None else f"{tenant}/{worker}/{of}", body))
        return named


def kept(named: Iterable[tuple[str, bytes]]) -> Kept:
    """Return what names say.

    >>> kept(kept([("a/0/2", b""), ("a", b""), ("/routes/a", b"{}")]).named()).frames
    [Frame(tenant='a', worker=0, of=2, body=b''), Frame(tenant='a', worker=None, of=0, body=b'')]
    """
    frames, routes = [], {}
    for name, body in named:
        if name.startswith(_ROUTES):
            routes[name.removeprefix(_ROUTES)] = body
            continue
        tenant, _, place = name.partition("/")
        worker, _, of = place.partition("/")
        frames.append(Frame(tenant, int(worker) if worker else None, int(of or 0), body))
    return Kept(frames, routes)


def is_routed(record: LogRecord) -> bool:
    """Say whether an agent may have written a log record; who serves reads what is ours."""
    return record.name not in {semconv.HEARTBEAT_EVENT, semconv.APPROVAL_EVENT}


def decoded(entry: Entry, limits: Limits, plain: PlainNames) -> Batch:
    """Return what the body of an entry holds.

    Raises:
        InputError: It is no such request.
    """
    body = entry.body
    if entry.gzipped:
        body = gunzip(body, max_bytes=MAX_BYTES)
    return decode(entry.kind, body, limits, plain=plain)
