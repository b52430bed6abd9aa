"""Who judges entries: this process, or workers; the intake does not know which."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from otel_watchdog_collector.config import CollectorConfig
from otel_watchdog_collector.facts import Entry, Row
from otel_watchdog_collector.health import Sign
from otel_watchdog_collector.meters import Meters
from otel_watchdog_collector.pipeline.desk import Desk
from otel_watchdog_collector.pipeline.here import Here
from otel_watchdog_collector.pipeline.parts import Kept
from otel_watchdog_collector.pipeline.tenant import Publish, Tenant
from otel_watchdog_collector.wire import Batch

Seat: TypeAlias = Tenant | Desk
"""One tenant, as those see it who hand letters out."""

_Seat = TypeVar("_Seat", Tenant, Desk)


class Judges(Protocol[_Seat]):
    """Judges entries of all tenants; those of one are judged in the order in which they begin."""

    def make(self, name: str) -> _Seat:
        """Return a new tenant."""
        ...

    def begin(self, seat: _Seat, entry: Entry, batch: Batch | None) -> Awaitable[Sequence[Sign]]:
        """Begin to judge an entry; what is returned ends it, and tells signs of agents' health.

        All that begin are to be awaited, in the same order. One that cannot be judged is skipped.

        Args:
            seat: Its tenant.
            entry: It.
            batch: What the body holds, where it was decoded.
        """
        ...

    async def rows(self, seats: Iterable[_Seat]) -> list[Row]:
        """Return the rows that changed."""
        ...

    async def freeze(self, seats: Iterable[_Seat]) -> Kept:
        """Return all that is known."""
        ...

    def note_saved(self) -> None:
        """Note that what `freeze` returned is in the store."""
        ...

    async def load(self, kept: Kept) -> Mapping[str, _Seat]:
        """Return the tenants that a snapshot holds; one that cannot be read is left out."""
        ...

    async def close(self) -> None:
        """Let go of what judging takes."""
        ...


def judges_of(
    config: CollectorConfig, *, meters: Meters, publish: Publish, kept: Callable[[], Kept]
) -> Judges[Any]:
    """Return who judges, as the settings say.

    Args:
        config: Settings.
        meters: Counts.
        publish: Called with each correction, and with what came of it.
        kept: Returns what the last snapshot holds, to workers that are started anew.
    """

    def make(name: str) -> Tenant:
        return Tenant(
            name,
            config.library(),
            expiry_seconds=config.expiry_seconds,
            meters=meters,
            publish=publish,
            history_chars=config.history_chars,
        )

    if config.workers == 1:
        return Here(config, make, meters)
    from otel_watchdog_collector.pipeline.spread import Spread  # noqa: PLC0415 - few have workers

    return Spread(config, make, meters=meters, publish=publish, kept=kept)
