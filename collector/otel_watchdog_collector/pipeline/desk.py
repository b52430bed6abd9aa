"""What the front process keeps of a tenant whose sessions are judged by workers."""

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import NamedTuple

from otel_watchdog.model import Correction, Outcome
from otel_watchdog.otlp import Recorded
from otel_watchdog.spans import RecordedSpan
from otel_watchdog_collector.facts import Letter
from otel_watchdog_collector.health import Sign
from otel_watchdog_collector.pipeline.routes import Routes
from otel_watchdog_collector.pipeline.seen import Seen
from otel_watchdog_collector.pipeline.tenant import Tenant
from otel_watchdog_collector.wire import Resource


class Told(NamedTuple):
    """A correction under its lasting id or what came of it, where it was made."""

    fact: Correction | Outcome
    judged: Recorded
    resource: Resource


class Verdict(NamedTuple):
    """What a worker made of its part of an entry."""

    told: Sequence[Told] = ()
    letters: Sequence[Letter] = ()
    """Those that wait and did not before."""
    gone: Sequence[str] = ()
    """Ids of those that wait no more."""
    heard: Iterable[tuple[str, str | None]] = ()
    """Service and name of each agent whose spans came."""
    signs: Sequence[Sign] = ()
    counts: Sequence[tuple[str, int]] = ()
    sessions: int = 0
    """How many are kept."""


class Desk:
    """One tenant's mode, letters and agents; it is asked as a `Tenant` is.

    Args:
        name: Its name.
        make: Returns the tenant as it would be without workers.
        expiry_seconds: Age at which a letter is not given out any more.
    """

    def __init__(self, name: str, make: Callable[[], Tenant], *, expiry_seconds: float) -> None:
        self.name = name
        self._make = make
        tenant = make()
        self.mode = tenant.mode
        """What may be done to its agents."""
        self.ledger = tenant.ledger
        """Of agents alone."""
        self.mailboxes = tenant.mailboxes
        self.routes = Routes()
        self.seen = Seen()
        self._expiry_seconds = expiry_seconds
        self._sessions: dict[int, int] = {}

    @property
    def sessions(self) -> int:
        """How many sessions are kept."""
        return sum(self._sessions.values())

    def plain_names(self, _: str) -> Container[str]:
        """Return none: which spans say nothing is known to the workers."""
        return ()

    def waiting(self, name: str, agent: str | None, now: float) -> list[Letter]:
        """Return the letters for who asks by `name`, that are not too old."""
        return self.mailboxes.waiting(name, agent, now - self._expiry_seconds)

    def lease(self, ids: Iterable[str]) -> None:
        """Note that letters go out with their agent's next model call."""
        for id_ in ids:
            letter = self.mailboxes.find(id_)
            if letter is not None:
                letter.leased = True

    def claim(self, ids: Iterable[str]) -> None:
        """Note that a model call has gone out with letters."""
        for id_ in ids:
            self.mailboxes.claim(id_)

    def take(self, worker: int, verdict: Verdict, at: float) -> None:
        """Take in what a worker found.

        Args:
            worker: Its number.
            verdict: It.
            at: When the entry came, in seconds since the epoch.
        """
        self._sessions[worker] = verdict.sessions
        for id_ in verdict.gone:
            self.mailboxes.drop(id_)
        for letter in sorted(verdict.letters, key=lambda letter: letter.seq):
            if self.mailboxes.find(letter.id) or self.mailboxes.was_claimed(letter.id):
                continue
            put, _ = self.mailboxes.put(letter.id, letter.correction, letter.names, letter.sent_at)
            put.leased = letter.leased
        for service, agent in verdict.heard:
            self.ledger.hear(service, agent, at, last_span_at=at)

    def note_seen(self, spans: Iterable[RecordedSpan], at: float) -> None:
        """Remember which spans were judged."""
        self.seen.age(at)
        for span in spans:
            self.seen.add(span.span_id ^ span.trace_id)

    def keep_letters(self, ids: Collection[str]) -> None:
        """Throw away the letters that no worker knows."""
        for id_ in self.mailboxes.ids():
            if id_ not in ids:
                self.mailboxes.drop(id_)

    def freeze(self) -> bytes:
        """Return all that it knows, but for the routes, as a tenant without sessions would."""
        tenant = self._make()
        tenant.mode, tenant.mailboxes, tenant.ledger = self.mode, self.mailboxes, self.ledger
        return tenant.freeze()

    def thaw(self, bodies: Iterable[bytes], routes: bytes | None) -> None:
        """Know its part of what a tenant and its workers knew.

        Args:
            bodies: What each returned from `freeze`.
            routes: What its routes did; `None`: there were no workers.

        Raises:
            InputError: One cannot be read.
        """
        tenant = self._make()
        for body in bodies:
            tenant.thaw(body)
        if routes is not None:
            self.routes.thaw(routes)
        tenant.ledger.keep(lambda _: False)
        self.mode, self.mailboxes, self.ledger = tenant.mode, tenant.mailboxes, tenant.ledger
