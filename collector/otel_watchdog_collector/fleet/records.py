"""Reads what agents send as log records: heartbeats, and steps of questions to people."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from otel_watchdog import semconv
from otel_watchdog.spans import LogRecord
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.health import Beat, Sign, SignKind, agent_id, iso
from otel_watchdog_collector.wire import Batch

MAX_NAMES: Final = 32
"""Open spans of a heartbeat that are read."""

MAX_CHARS: Final = 200
MAX_NUMBER: Final = 1e9

_STATES: Final = {"asked": "asked", "unanswered": "unanswered"}


def beats(batch: Batch) -> Iterator[Sign]:
    """Yield the heartbeats that a batch holds."""
    for record, service in _records(batch, semconv.HEARTBEAT_EVENT):
        said = record.attributes
        beat = Beat(
            open_spans=_whole(said.get(semconv.HEARTBEAT_OPEN_SPANS)),
            oldest_open_seconds=_number(said.get(semconv.HEARTBEAT_OLDEST_OPEN_SECONDS)),
            idle_seconds=_number(said.get(semconv.HEARTBEAT_IDLE_SECONDS)),
            names=tuple(
                str(name)[:MAX_CHARS] for name in _listed(said.get(semconv.HEARTBEAT_NAMES))
            ),
            ages=tuple(_number(age) or 0.0 for age in _listed(said.get(semconv.HEARTBEAT_AGES))),
            queued=_whole(said.get(semconv.HEARTBEAT_QUEUED)),
            idle_reason=_text(said.get(semconv.HEARTBEAT_IDLE_REASON)),
            uptime_seconds=_number(said.get(semconv.HEARTBEAT_UPTIME_SECONDS)),
            stopping=said.get(semconv.HEARTBEAT_STOPPING) is True,
        )
        agent = _text(said.get(semconv.GEN_AI_AGENT_NAME))
        yield Sign(service, agent, SignKind.HEARTBEAT, beat=beat)


def approvals(batch: Batch, tenant: str, at: float) -> Iterator[Row]:
    """Yield what steps of questions to people make: rows, one a question.

    Args:
        batch: What came.
        tenant: Whose.
        at: When, in seconds since the epoch.
    """
    for record, service in _records(batch, semconv.APPROVAL_EVENT):
        said = record.attributes
        step = _text(said.get(semconv.WATCHDOG_APPROVAL_STEP)) or "unknown"
        session = _text(said.get(semconv.WATCHDOG_SESSION))
        name = _text(said.get(semconv.GEN_AI_AGENT_NAME))
        turn = _whole(said.get(semconv.WATCHDOG_TURN))
        detector = _text(said.get(semconv.WATCHDOG_DETECTOR_NAME))
        fields = {
            "state": _STATES.get(step, "answered"),
            "agent": agent_id(service, name),
            "session": session,
            "step": step,
            "scope": _text(said.get(semconv.WATCHDOG_APPROVAL_SCOPE)),
            "by": _text(said.get(semconv.WATCHDOG_APPROVAL_BY)),
            "reason": detector or "",
            "asked_at": iso(at),
            "at": iso(at),
        }
        key = f"{session}/{turn}/{detector}"
        yield Row(table=Table.APPROVALS, tenant=tenant, id=key, at=at, fields=fields)


def _records(batch: Batch, event: str) -> Iterator[tuple[LogRecord, str]]:
    for index, record in enumerate(batch.records):
        if record.name == event:
            resource = batch.resources[batch.record_resources[index]]
            yield record, _service(resource.attributes)


def _service(attributes: Mapping[str, Any]) -> str:
    return str(attributes.get("service.name") or "unknown_service")


def _listed(value: object) -> list[Any]:
    return value[:MAX_NAMES] if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value[:MAX_CHARS] if isinstance(value, str) and value else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MAX_NUMBER else None


def _whole(value: object) -> int | None:
    found = _number(value)
    return None if found is None else int(found)
