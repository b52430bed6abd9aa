"""A process that judges some of the sessions, for the one that serves.

It does one thing after another: a request comes over a pipe, an answer goes back. It keeps nothing:
who serves has the journal, and starts another if this one ends. When who serves ends, so does it.
"""

import logging
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from otel_watchdog.errors import InputError
from otel_watchdog.model import Correction, Outcome
from otel_watchdog.otlp import Recorded
from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Letter, Row, Table
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline.desk import Told, Verdict
from otel_watchdog_collector.pipeline.here import apply
from otel_watchdog_collector.pipeline.lasting import light
from otel_watchdog_collector.pipeline.parts import Frame, Kept, Part, decoded, is_routed
from otel_watchdog_collector.pipeline.routes import Routes, trace_of
from otel_watchdog_collector.pipeline.tenant import Tenant
from otel_watchdog_collector.wire import Batch, Limits, Resource

_logger = logging.getLogger(__name__)


class Worker:
    """Judges the sessions of some shards.

    Args:
        config: Settings.
        number: Its own, from 0.
        of: How many there are.
    """

    def __init__(self, config: CollectorConfig, number: int, of: int) -> None:
        self._config = config
        self._number = number
        self._of = of
        self._limits = Limits(config.max_attributes, config.max_attribute_chars)
        self._meters = Meters()
        self._tenants: dict[str, Tenant] = {}
        self._told: list[Told] = []
        self._known: dict[str, set[str]] = {}
        """Ids of the letters that were told of, by tenant."""

    def load(self, kept: Kept) -> None:
        """Know what a snapshot holds of its sessions."""
        for name in kept.bodies():
            frames = [frame for frame in kept.frames if frame.tenant == name]
            try:
                self._load(name, frames, kept.routes.get(name))
            except InputError as error:
                self._tenants.pop(name, None)
                _logger.warning("tenant %s starts with no evidence: %s", name, error)

    def letters(self) -> dict[str, list[Letter]]:
        """Return all letters that wait, by tenant."""
        ids = {name: tenant.mailboxes.ids() for name, tenant in self._tenants.items()}
        self._known = {name: set(known) for name, known in ids.items()}
        return {name: _letters(tenant, ids[name]) for name, tenant in self._tenants.items()}

    def judge(self, part: Part) -> Verdict:
        """Take in a part of an entry; return what was found."""
        name = part.entry.tenant
        tenant = self._tenant(name)
        self._told = []
        tenant.signs, tenant.heard = [], ()
        try:
            apply(tenant, part.entry, lambda: self._batch(tenant, part))
        except Exception:
            self._meters.add("internal_errors_total")
            _logger.exception("an entry of kind %s could not be judged", part.entry.kind.value)
        known, now = self._known.get(name, set()), tenant.mailboxes.ids()
        self._known[name] = set(now)
        return Verdict(
            told=self._told,
            letters=_letters(tenant, [id_ for id_ in now if id_ not in known]),
            gone=list(known.difference(now)),
            heard=list(tenant.heard),
            signs=tenant.signs,
            counts=self._meters.drain(),
            sessions=tenant.sessions,
        )

    def rows(self) -> list[Row]:
        """Return the rows that changed, but for those of agents."""
        rows = [row for tenant in self._tenants.values() for row in tenant.ledger.take()]
        return [row for row in rows if row.table is not Table.AGENTS]

    def freeze(self) -> list[Frame]:
        """Return all that it knows."""
        return [
            Frame(name, self._number, self._of, tenant.freeze())
            for name, tenant in self._tenants.items()
        ]

    def _load(self, name: str, frames: Sequence[Frame], routes: bytes | None) -> None:
        tenant = self._tenant(name)
        own = [f for f in frames if (f.worker, f.of) == (self._number, self._of)]
        for frame in own or frames:
            tenant.thaw(frame.body)
        if not own:
            known = Routes()
            if routes is not None:
                known.thaw(routes)
            tenant.keep(lambda place: known.shard_of(place) % self._of == self._number)

    def _tenant(self, name: str) -> Tenant:
        tenant = self._tenants.get(name)
        if tenant is None:
            tenant = self._tenants[name] = Tenant(
                name,
                self._config.library(),
                expiry_seconds=self._config.expiry_seconds,
                meters=self._meters,
                publish=self._publish,
                history_chars=self._config.history_chars,
            )
        return tenant

    def _batch(self, tenant: Tenant, part: Part) -> Batch:
        """Return what is to be judged here."""
        if not part.traces:
            return Batch()
        whole = decoded(part.entry, self._limits, tenant.plain_names)
        own = Batch(resources=whole.resources)
        for span, resource in zip(whole.spans, whole.resource_of, strict=True):
            if trace_of(span) in part.traces:
                own.spans.append(span)
                own.resource_of.append(resource)
        for record, resource in zip(whole.records, whole.record_resources, strict=True):
            if is_routed(record) and trace_of(record) in part.traces:
                own.records.append(record)
                own.record_resources.append(resource)
        return own

    def _publish(
        self, _: str, fact: Correction | Outcome, judged: Recorded, resource: Resource
    ) -> None:
        self._told.append(Told(fact, light(judged), resource))


def _letters(tenant: Tenant, ids: Sequence[str]) -> list[Letter]:
    return [letter for id_ in ids if (letter := tenant.mailboxes.find(id_)) is not None]


def main() -> None:
    """Serve one pipe until it is closed; its number is the only argument."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # who serves says when it is over
    pipe = Connection(int(sys.argv[1]))
    logging.basicConfig(level="WARNING", format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    try:
        worker = Worker(*pipe.recv())
        pipe.send(None)
        while True:
            name, given = pipe.recv()
            does: Callable[..., Any] = getattr(worker, name)
            pipe.send_bytes(pickle.dumps(does(*given), protocol=5))
    except (EOFError, OSError):
        return


if __name__ == "__main__":
    main()
