"""One tenant's agents, watched: batches in, corrections out; no I/O, thread or clock of its own.

All that it knows follows from the journal's entries and their order: after a restart, the same
entries give the same corrections with the same ids.
"""

import dataclasses
import gzip
import io
from collections import OrderedDict
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import Any, Final

from otel_watchdog import snapshots
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.model import Correction, Finding, Mode, Observation, Outcome
from otel_watchdog.otlp import Recorded, SpanStream
from otel_watchdog.scopes import Scopes
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import RecordedSpan
from otel_watchdog_collector.facts import Letter
from otel_watchdog_collector.health import Sign, SignKind
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline.hearing import heard, listen
from otel_watchdog_collector.pipeline.held import Held, Item
from otel_watchdog_collector.pipeline.history import History
from otel_watchdog_collector.pipeline.lasting import (
    FleetWatchdog,
    Place,
    lasting_id,
    light,
    renamed,
)
from otel_watchdog_collector.pipeline.ledger import Ledger, names_of, service_of
from otel_watchdog_collector.pipeline.mailboxes import Mailboxes
from otel_watchdog_collector.pipeline.seen import Seen, number_of
from otel_watchdog_collector.pipeline.signs import COUNTED, signs_of
from otel_watchdog_collector.wire import Batch, Resource

MAX_SCOPES: Final = 4096
"""Names of scopes that are remembered; then all are tried anew."""

SWEEP_SECONDS: Final = 60.0

_FAST: Final = 1
"""Of compression: a tenth of the size in next to no time."""

MAX_PLACES: Final = 20_000
"""Corrections whose outcome is waited for; the oldest is dropped first."""

Publish = Callable[[str, Correction | Outcome, Recorded, Resource], None]
"""Called with the tenant, a correction under its lasting id or what came of it, the span or log
record that was judged and its resource."""


class Tenant:
    """Watches the agents of one tenant.

    Args:
        name: Its name.
        config: The library's settings.
        expiry_seconds: Age at which a letter is thrown away.
        meters: Counts.
        publish: Called with each correction.
        history_chars: Characters of a text that are kept of what agents do; 0: nothing is.
    """

    def __init__(
        self,
        name: str,
        config: WatchdogConfig,
        *,
        expiry_seconds: float,
        meters: Meters,
        publish: Publish,
        history_chars: int = 0,
    ) -> None:
        self.name = name
        self.ledger = Ledger(name, config.max_sessions)
        self.history = History(name, history_chars)
        self.mailboxes = Mailboxes(config.max_sessions)
        self.seen = Seen()
        self._held = Held()
        self._expiry_seconds = expiry_seconds
        self._meters = meters
        self._publish = publish
        self._scopes = Scopes(on_error=self._fail)
        self._sessions = Sessions(
            self._read,
            max_sessions=config.max_sessions,
            ttl_seconds=config.session_ttl_seconds,
            max_open_spans=config.max_open_spans,
        )
        self._stream = SpanStream(self._scopes, self._sessions)
        self._engine = FleetWatchdog(
            config=config,
            on_finding=self._find,
            on_outcome=self._conclude,
            on_error=self._fail,
        )
        self._engine.current = config.mode
        self._at = 0.0
        self._swept_at = 0.0
        self._known: set[str] = set()
        self.signs: list[Sign] = []
        """Of agents' health, from what was last taken in."""
        self.heard: Collection[tuple[str, str | None]] = ()
        """Service and name of each agent whose spans were last taken in."""
        self._places: OrderedDict[str, Place] = OrderedDict()
        """By the engine's id of a correction."""

    @property
    def mode(self) -> Mode:
        """What may be done to its agents."""
        return self._engine.current

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._engine.current = mode

    @property
    def sessions(self) -> int:
        """How many sessions are kept."""
        return len(self._known)

    def plain_names(self, scope: str) -> Container[str]:
        """Return names of a scope's spans that say nothing."""
        return self._scopes[scope].plain

    def take(self, batch: Batch, at: float) -> None:
        """Take in what a request held.

        Args:
            batch: It.
            at: When it came, in seconds since the epoch.
        """
        self._at = at
        self.signs = []
        self.heard = ()
        if batch.records:
            self._meters.add("heartbeats_total", listen(batch, self.ledger, at))
        if self.mode is not Mode.OFF:
            self._watch(batch, at)
        if at - self._swept_at >= SWEEP_SECONDS:
            self._sweep(at)

    def lease(self, ids: Sequence[str], at: float) -> None:
        """Note that letters go out with their agent's next model call."""
        for id_ in ids:
            letter = self.mailboxes.find(id_)
            if letter is not None and not letter.leased:
                letter.leased = True
                self._engine.lease(letter.correction)
                self._write(id_, letter.correction, at, state="leased")

    def claim(self, ids: Sequence[str], at: float) -> None:
        """Note that a model call has gone out with letters; each counts once."""
        for id_ in ids:
            letter = self.mailboxes.claim(id_)
            if letter is not None:
                self._engine.claim(letter.correction)
                self._meters.add("delivered_corrections_total")
                self._write(id_, letter.correction, at, state="delivered")

    def waiting(self, name: str, agent: str | None, now: float) -> list[Letter]:
        """Return the letters for who asks by `name`, that are not too old."""
        return self.mailboxes.waiting(name, agent, now - self._expiry_seconds)

    def blind(self, session: str) -> dict[str, str]:
        """Return what each detector lacks in a session."""
        return dict(self._engine.blind(session))

    def freeze(self) -> bytes:
        """Return all that it knows, compressed."""
        beside = {
            "ledger": self.ledger,
            "history": self.history.freeze(),
            "mailboxes": self.mailboxes,
            "seen": self.seen,
            "held": self._held,
            "mode": self.mode,
            "times": (self._at, self._swept_at),
            "known": self._known,
            "places": self._places,
        }
        body = io.BytesIO()
        with gzip.GzipFile(mode="wb", fileobj=body, compresslevel=_FAST, mtime=0) as file:
            snapshots.write(file, self._engine, self._sessions, beside)
        return body.getvalue()

    def thaw(self, body: bytes) -> None:
        """Know what `freeze` returned, beside what is known of other sessions.

        Mode and letters are those of the last.

        Raises:
            InputError: It cannot be read.
        """
        own = "otel_watchdog_collector.pipeline."
        beside: dict[str, Any] = snapshots.read(
            gzip.GzipFile(fileobj=io.BytesIO(body)),
            self._engine,
            self._sessions,
            modules={
                own + "held",
                own + "lasting",
                own + "ledger",
                own + "mailboxes",
                own + "seen",
                "otel_watchdog_collector.facts",
                "otel_watchdog_collector.wire.batch",
            },
        )
        self.ledger.absorb(beside["ledger"])
        self.history.thaw(beside["history"])
        self.mailboxes = beside["mailboxes"]
        self.seen.absorb(beside["seen"])
        self._held.absorb(beside["held"])
        self._engine.current = beside["mode"]
        at, swept_at = beside["times"]
        self._at, self._swept_at = max(self._at, at), max(self._swept_at, swept_at)
        self._known |= beside["known"]
        self._places.update(beside["places"])

    def keep(self, is_own: Callable[[str], bool]) -> None:
        """Keep some of the sessions, with all that is about them, and no other.

        Args:
            is_own: Says it, by where a session lives: its conversation's id, else its trace's.
        """
        places = self._sessions.places()
        self.mailboxes.keep(lambda key: is_own(places.get(key, key)))
        self.ledger.keep(lambda key: is_own(places.get(key, key)))
        self._drop({key for key in self._known if not is_own(places.get(key, key))})
        self._sessions.keep(is_own)
        self._held.keep(is_own)

    def _watch(self, batch: Batch, at: float) -> None:
        if len(self._scopes) > MAX_SCOPES:
            self._scopes.clear()
        items = self._items(batch, at)
        engine, ledger, history = self._engine, self.ledger, self.history
        names: dict[int, str | None] = {}
        said: set[Sign] = set()
        for index, observations in self._stream.observe([item.recorded for item in items]):
            recorded, resource = items[index]
            service = service_of(resource.attributes)
            for observation in observations:
                ledger.observe(observation, at, service)
                history.observe(observation, ledger.agent_of(observation.session), service)
                self._known.add(observation.session)
                correction = engine.observe(observation)
                if correction is not None:
                    self._correct(correction, recorded, resource, at)
            if observations:
                names[index] = agent = ledger.agent_of(observations[-1].session)
                self._sign(signs_of(observations, recorded, service, agent), said)
        ledger.add(history.take(at))
        self.heard = heard(items, self._scopes, names)
        for service, agent in self.heard:
            ledger.hear(service, agent, at, last_span_at=at)
            self.signs.append(Sign(service, agent, SignKind.ACTIVITY))

    def _items(self, batch: Batch, at: float) -> list[Item]:
        """Return what is to be judged now: spans and log records that were not seen before.

        A record that was written in a span waits for it, unless it has waited too long.
        """
        add = self.seen.add
        items = [
            Item(span, batch.resources[batch.resource_of[index]])
            for index, span in enumerate(batch.spans)
            if span.end is not None and add(span.span_id ^ span.trace_id)
        ]
        if len(items) < len(batch.spans):
            self._meters.add("duplicate_spans_total", len(batch.spans) - len(items))
        for index, record in enumerate(batch.records):
            if self._scopes.read_log(record) is None or not add(number_of(record)):
                continue
            resource = batch.resources[batch.record_resources[index]]
            if record.parent_id is None:
                items.append(Item(record, resource))
            else:
                self._held.put(record, resource, at)
        items += self._held.take([item.recorded for item in items])
        items += self._held.due(at)
        return items

    def _sign(self, signs: Iterable[Sign], said: set[Sign]) -> None:
        """Note signs; of those whose number says nothing, one between two that count."""
        for sign in signs:
            if sign.kind in COUNTED:
                said.clear()
            elif sign in said:
                continue
            else:
                said.add(sign)
            self.signs.append(sign)

    def _correct(
        self, correction: Correction, judged: Recorded, resource: Resource, at: float
    ) -> None:
        id_ = lasting_id(self.name, correction, judged)
        self._meters.add("corrections_total")
        place = Place(id_, correction.session, light(judged), resource)
        self._places[correction.id] = place
        if len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)
        if correction.mode is Mode.OBSERVE:
            self._write(id_, correction, at, state="observed")
        else:
            names = names_of(correction, judged.trace_id, judged.attributes)
            _, gone = self.mailboxes.put(id_, correction, names, at)
            self._throw_away(gone, at)
            self._write(id_, correction, at, state="waiting")
        self._publish(self.name, renamed(correction, id_), judged, resource)

    def _conclude(self, outcome: Outcome) -> None:
        """Write down what came of a correction, and let the others know."""
        place = self._places.get(outcome.correction.id)
        if place is None:
            return
        facts = {"outcome": outcome.outcome.value, "turns_to_heed": outcome.turns_to_heed}
        self._write(place.id, outcome.correction, self._at, state="delivered", **facts)
        del self._places[outcome.correction.id]
        lasting = dataclasses.replace(outcome, correction=renamed(outcome.correction, place.id))
        self._publish(self.name, lasting, place.judged, place.resource)

    def _sweep(self, at: float) -> None:
        self._swept_at = at
        self._throw_away(self.mailboxes.expire(at - self._expiry_seconds), at)
        known = {session.key for session in self._sessions.known()}
        self._drop(self._known - known)
        self.seen.age(at)

    def _drop(self, gone: Collection[str]) -> None:
        """Know nothing more of these sessions."""
        for key in gone:
            self._engine.forget(key)
        self.ledger.forget(gone)
        self.history.forget(gone)
        self._known.difference_update(gone)
        for id_ in [id_ for id_, place in self._places.items() if place.session in gone]:
            del self._places[id_]

    def _throw_away(self, letters: Sequence[Letter], at: float) -> None:
        for letter in letters:
            self._meters.add("expired_corrections_total")
            self._engine.withdraw(letter.correction)
            self._write(letter.id, letter.correction, at, state="expired")
            self._places.pop(letter.correction.id, None)

    def _write(self, id_: str, correction: Correction, at: float, **facts: Any) -> None:
        """Write down a correction as it is now, with the span that it was made for."""
        place = self._places.get(correction.id)
        if place is not None:
            facts["trace_id"] = f"{place.judged.trace_id:032x}"
            facts["span_id"] = f"{place.judged.span_id or place.judged.parent_id or 0:016x}"
        self.ledger.correct(id_, correction, at, **facts)

    def _find(self, finding: Finding, observation: Observation) -> None:
        self._meters.add("findings_total")
        self.ledger.find(finding, observation, self._at)

    def _read(self, span: RecordedSpan) -> Any:
        return self._scopes.read(self._scopes[span.scope], span)

    def _fail(self, _: str, __: Exception) -> None:
        self._meters.add("internal_errors_total")
