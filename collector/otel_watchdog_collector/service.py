"""Wires the service's parts, and starts and stops them."""

import asyncio
import logging
import os
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from otel_watchdog.clock import Clock, system_clock
from otel_watchdog.model import Correction, Mode, Outcome
from otel_watchdog.otlp import Recorded
from otel_watchdog_collector import feedback
from otel_watchdog_collector.access import Access
from otel_watchdog_collector.clock import WallClock, system_wall_clock
from otel_watchdog_collector.config import Loaded
from otel_watchdog_collector.exporters import Forwarder, correction_request, outcome_request
from otel_watchdog_collector.facts import Entry, Kind, Parcel
from otel_watchdog_collector.fleet import Actor, AuditFile, Keeper, Prober, Shelf, Switches
from otel_watchdog_collector.health import Sign
from otel_watchdog_collector.limits import RateLimit
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline import Intake, Post
from otel_watchdog_collector.probed import Probed
from otel_watchdog_collector.receivers import Door, OtlpHttpApp, run
from otel_watchdog_collector.site import Asgi, Site
from otel_watchdog_collector.stores import Store, open_store
from otel_watchdog_collector.web import Live, Parts
from otel_watchdog_collector.wire import Batch, Resource

if TYPE_CHECKING:
    from otel_watchdog_collector.receivers.otlp_grpc import GrpcReceiver

STOP_SECONDS: Final = 5.0
"""Seconds that stopping may take, for each part."""

_PROTOBUF: Final = "application/x-protobuf"
_logger = logging.getLogger(__name__)


class Service:
    """The whole service.

    Args:
        loaded: Settings.
        store: Default: the one that the settings name.
        clock: Time of day.
        timer: Time that does not go backwards.

    Raises:
        StoreError: The store cannot be opened.
    """

    def __init__(
        self,
        loaded: Loaded,
        *,
        store: Store | None = None,
        clock: WallClock = system_wall_clock,
        timer: Clock = system_clock,
    ) -> None:
        config = self._config = loaded.config
        self.meters = Meters()
        self._clock = clock
        self._live = Live()
        self._store = store or open_store(config.store)
        self.intake = Intake(
            self._store,
            config,
            clock=clock,
            meters=self.meters,
            publish=self._publish,
            on_judged=self._note_judged,
            on_signs=self._note_signs,
            on_kept=self._live.note,
        )
        self.fleets = Keeper(
            Shelf(
                self._store,
                self.intake.keep,
                AuditFile.of(config.fleet, store=config.store),
                clock,
                self.meters,
            ),
            config.fleet,
            clock=clock,
            meters=self.meters,
            switches=Switches(config.fleet.pause_file),
            heartbeat_seconds=config.heartbeat_seconds,
            actor=Actor(clock),
            prober=Prober(config.fleet.probes),
        )
        self._hub = feedback.Hub(config.max_waiting_agents)
        self._forwarders = {
            destination.name: Forwarder(
                destination,
                self._store,
                meters=self.meters,
                max_parcels=config.max_outbox_parcels,
            )
            for destination in config.destinations
        }
        access = Access(config.tokens)
        post = Post(self.intake, clock, self.fleets.is_paused)
        door = Door(
            self._submit,
            lambda tenant: self.intake.tenant(tenant).plain_names,
            access=access,
            config=config,
            rate=RateLimit(config.max_spans_per_second, timer),
            meters=self.meters,
            clock=clock,
        )
        self._loaded = loaded
        self._access = access
        site = Site(
            OtlpHttpApp(door),
            feedback.FeedbackApp(post, self._hub, access=access, config=config, meters=self.meters),
            make_api=self._make_api,
            make_pages=self._make_pages,
        )
        self._site = Probed(
            site, access=access, meters=self.meters, is_ready=lambda: self.intake.is_writable
        )
        self._door = door
        self._grpc: GrpcReceiver | None = None
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.http_port = 0
        """Where it listens, once it does."""
        self.grpc_port: int | None = None
        self._add_gauges()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, as an ASGI application."""
        await self._site(scope, receive, send)

    async def start(self) -> None:
        """Recover what was known, and listen.

        Raises:
            OSError: An address cannot be had.
            StoreError: The store cannot be read.
        """
        count = await self.intake.recover()
        _logger.info("replayed %d entries of the journal", count)
        self.fleets.recover()
        self.intake.start()
        self.fleets.start()
        for forwarder in self._forwarders.values():
            forwarder.start()
        await self._start_grpc()
        await self._start_http()

    async def stop(self) -> None:
        """Take nothing more in, finish what is in work, keep the state. Safe to call twice."""
        self._hub.close()
        self._live.close()
        if self._grpc is not None:
            await self._grpc.stop(STOP_SECONDS)
            self._grpc = None
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await self._serving
            self._server = None
        await self.fleets.close(STOP_SECONDS)
        await self.intake.close()
        for forwarder in self._forwarders.values():
            await forwarder.close(STOP_SECONDS)
        self._store.close()

    def _make_api(self) -> Asgi:
        from otel_watchdog_collector.api import Deps, make_api  # noqa: PLC0415 - twelve MiB

        return make_api(
            Deps(
                store=self._store,
                access=self._access,
                meters=self.meters,
                clock=self._clock,
                heartbeat_seconds=self._config.heartbeat_seconds,
                mode=lambda tenant: self.intake.tenant(tenant).mode,
                is_paused=self.fleets.is_paused,
                set_mode=self._set_mode,
                fleet=self.fleets,
                is_ready=lambda: self.intake.is_writable,
                setting_lines=self._loaded.lines,
            )
        )

    def _make_pages(self) -> Asgi:
        from otel_watchdog_collector.web.app import make_web  # noqa: PLC0415 - as above

        return make_web(
            Parts(
                store=self._store,
                access=self._access,
                meters=self.meters,
                clock=self._clock,
                live=self._live,
                fleet=self.fleets,
                mode=lambda tenant: self.intake.tenant(tenant).mode,
                set_mode=self._set_mode,
                setting_lines=self._loaded.lines,
                watchdog=self._config.watchdog,
                library=self._config.library,
                history_chars=self._config.history_chars,
                is_tls=self._config.tls_certificate is not None,
            )
        )

    async def _start_grpc(self) -> None:
        config = self._config
        if config.grpc_port < 0:
            return
        # Who is called looks up no names: gRPC's own resolver would take a third of a MiB.
        os.environ.setdefault("GRPC_DNS_RESOLVER", "native")
        from otel_watchdog_collector.receivers.otlp_grpc import (  # noqa: PLC0415 - ten MiB
            GrpcReceiver,
        )

        tls = None
        if config.tls_certificate is not None and config.tls_key is not None:
            tls = (config.tls_key.read_bytes(), config.tls_certificate.read_bytes())
        self._grpc = GrpcReceiver(self._door, max_message_bytes=config.max_decompressed_bytes)
        try:
            self.grpc_port = await self._grpc.start(
                f"{config.grpc_host}:{config.grpc_port}", tls=tls
            )
        except RuntimeError as error:
            raise OSError(f"{config.grpc_host}:{config.grpc_port}: {error}") from None

    async def _start_http(self) -> None:
        config = self._config
        self._server = uvicorn.Server(
            uvicorn.Config(
                self,
                host=config.http_host,
                port=config.http_port,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=int(STOP_SECONDS),
                ssl_certfile=config.tls_certificate,
                ssl_keyfile=config.tls_key,
                ws="none",
                backlog=4096,
                timeout_keep_alive=75,  # exporters send every 5 s by default
            )
        )
        self._serving = asyncio.get_running_loop().create_task(run(self._server))
        while not self._server.started:
            if self._serving.done():
                raise OSError(f"{config.http_host}:{config.http_port}: cannot listen there")
            await asyncio.sleep(0.01)
        self.http_port = self._server.servers[0].sockets[0].getsockname()[1]

    async def _submit(self, entry: Entry, batch: Batch) -> None:
        parcels = [
            Parcel(
                destination=destination.name,
                id=uuid.uuid4().hex,
                path="/v1/traces" if entry.kind.is_traces else "/v1/logs",
                content_type="application/json" if entry.kind.is_json else _PROTOBUF,
                body=entry.body,
                gzipped=entry.gzipped,
            )
            for destination in self._config.destinations
            if destination.pass_through and self._has_room(destination.name)
        ]
        await self.intake.submit(entry, batch, parcels)

    async def _set_mode(self, tenant: str, mode: Mode) -> None:
        entry = Entry(Kind.MODE, tenant, self._clock(), mode.label.encode())
        await self.intake.submit(entry)

    def _publish(
        self, tenant: str, fact: Correction | Outcome, judged: Recorded, resource: Resource
    ) -> None:
        """Let agent and destinations know of a correction; the latter of what came of it, too."""
        names = [name for name in self._forwarders if self._has_room(name)]
        if names:
            self.intake.parcels += self._parcels(names, fact, judged, resource)
        if self._live.viewers:
            self.intake.hurry()
        if isinstance(fact, Correction) and fact.mode > Mode.OBSERVE:
            letter = self.intake.tenant(tenant).mailboxes.find(fact.id)
            if letter is not None:
                self._hub.notify(tenant, letter.names)

    def _parcels(
        self,
        destinations: Sequence[str],
        fact: Correction | Outcome,
        judged: Recorded,
        resource: Resource,
    ) -> list[Parcel]:
        if isinstance(fact, Outcome):
            id_ = f"{fact.correction.id}/{fact.turn}"
            body = outcome_request(fact, judged, resource.attributes, at=self._clock())
        else:
            id_, body = fact.id, correction_request(fact, judged, resource.attributes)
        return [
            Parcel(
                destination=name,
                id=id_,
                path="/v1/traces",
                content_type=_PROTOBUF,
                body=body,
            )
            for name in destinations
        ]

    def _note_judged(self, tenant: str, batch: Batch, at: float) -> None:
        self.fleets.hear(tenant, batch, at)
        self._hub.note_judged(tenant, (span.span_id ^ span.trace_id for span in batch.spans))

    def _note_signs(self, tenant: str, signs: Sequence[Sign], at: float) -> None:
        self.fleets.note(tenant, signs, at)

    def _has_room(self, destination: str) -> bool:
        forwarder = self._forwarders[destination]
        if forwarder.has_room:
            forwarder.put()
            return True
        self.meters.add("dropped_exports_total")
        return False

    def _add_gauges(self) -> None:
        def total(read: Callable[[Any], int]) -> Callable[[], float]:
            return lambda: sum(read(tenant) for tenant in self.intake.tenants)

        gauges: Sequence[tuple[str, str, Callable[[], float]]] = (
            ("sessions", "Sessions in memory.", total(lambda tenant: tenant.sessions)),
            ("agents", "Agents in memory.", total(lambda tenant: tenant.ledger.agents)),
            ("waiting_corrections", "Not taken.", total(lambda tenant: len(tenant.mailboxes))),
            ("open_incidents", "Incidents that are open.", lambda: self.fleets.open_incidents),
            ("waiting_agents", "Agents that wait for feedback.", lambda: self._hub.waiting),
            ("in_work_bytes", "Requests in work.", lambda: self.intake.waiting_bytes),
            ("ready", "1: spans are taken in.", lambda: float(self.intake.is_writable)),
        )
        for name, text, read in gauges:
            self.meters.gauge(name, text, read)
