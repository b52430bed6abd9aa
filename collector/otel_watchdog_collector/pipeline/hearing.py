"""Whose spans and heartbeats a request holds."""

from collections.abc import Mapping, Sequence

from otel_watchdog import semconv
from otel_watchdog.otlp import Recorded
from otel_watchdog.scopes import Scopes
from otel_watchdog_collector.pipeline.held import Item
from otel_watchdog_collector.pipeline.ledger import Ledger, number, service_of
from otel_watchdog_collector.wire import Batch


def heard(
    items: Sequence[Item], scopes: Scopes, names: Mapping[int, str | None]
) -> set[tuple[str, str | None]]:
    """Return service and name of each agent whose spans or log records came.

    Those without an agent's name are the service's, unless others beside them have one.

    Args:
        items: They.
        scopes: Say which spans are of agents.
        names: By index of an item, its agent's name as its session has it.
    """
    found = {
        (service_of(resource.attributes), names.get(index) or _name_on(recorded))
        for index, (recorded, resource) in enumerate(items)
        if index in names or scopes[recorded.scope].speaks
    }
    named = {service for service, agent in found if agent is not None}
    return {
        (service, agent) for service, agent in found if agent is not None or service not in named
    }


def listen(batch: Batch, ledger: Ledger, at: float) -> int:
    """Write down heartbeats; return how many there were.

    Args:
        batch: What came.
        ledger: Where to.
        at: When, in seconds since the epoch.
    """
    count = 0
    for index, record in enumerate(batch.records):
        if record.name != semconv.HEARTBEAT_EVENT:
            continue
        count += 1
        attributes = record.attributes
        agent = attributes.get(semconv.GEN_AI_AGENT_NAME)
        resource = batch.resources[batch.record_resources[index]]
        ledger.hear(
            service_of(resource.attributes),
            agent if isinstance(agent, str) else None,
            at,
            last_heartbeat_at=record.start or at,
            open_spans=number(attributes.get(semconv.HEARTBEAT_OPEN_SPANS), int),
            oldest_open_seconds=number(
                attributes.get(semconv.HEARTBEAT_OLDEST_OPEN_SECONDS), float
            ),
            idle_seconds=number(attributes.get(semconv.HEARTBEAT_IDLE_SECONDS), float),
        )
    return count


def _name_on(span: Recorded) -> str | None:
    name = span.attributes.get(semconv.GEN_AI_AGENT_NAME)
    return name if isinstance(name, str) and name else None
