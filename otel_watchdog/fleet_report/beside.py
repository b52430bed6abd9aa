"""What a recording holds beside its runs: spans of ours."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from otel_watchdog import semconv
from otel_watchdog.model import Mode
from otel_watchdog.recordings import RecordedRun
from otel_watchdog.spans import LogRecord, RecordedSpan
from otel_watchdog.spending import cost_of


@dataclass(slots=True)
class Beside:
    """What was found."""

    given: list[RecordedSpan] = field(default_factory=list)
    """Corrections that were delivered, and their outcomes."""
    checks: int = 0
    checks_cost: float = 0.0
    """US dollars."""


def look(items: Iterable[RecordedSpan | LogRecord | RecordedRun]) -> Beside:
    """Return what stands beside the runs of a recording."""
    found = Beside()
    for item in items:
        if isinstance(item, RecordedSpan) and item.scope == semconv.SCOPE:
            _take_ours(found, item)
    return found


def _take_ours(found: Beside, span: RecordedSpan) -> None:
    at = span.attributes
    if span.name == semconv.DRIFT_CHECK:
        found.checks += 1
        found.checks_cost += cost_of(at) or 0.0
    elif semconv.WATCHDOG_TIER in at and at.get(semconv.WATCHDOG_MODE) != Mode.OBSERVE.label:
        found.given.append(span)
