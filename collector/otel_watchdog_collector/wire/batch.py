"""What a request holds."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from otel_watchdog.spans import LogRecord, RecordedSpan

PlainNames: TypeAlias = Callable[[str], Container[str]]
"""Returns, by the name of a scope, names of its spans that say nothing: their attributes and
events need not be read."""


class Limits(NamedTuple):
    """How large the parts of a request may be."""

    max_attributes: int = 4096
    max_attribute_chars: int = 1024 * 1024


class Resource(NamedTuple):
    """Who sent spans."""

    attributes: Mapping[str, Any]


@dataclass(slots=True)
class Batch:
    """What one request holds."""

    resources: list[Resource] = field(default_factory=list)
    spans: list[RecordedSpan] = field(default_factory=list)
    resource_of: list[int] = field(default_factory=list)
    """By index of a span, the index of its resource."""
    records: list[LogRecord] = field(default_factory=list)
    record_resources: list[int] = field(default_factory=list)
    """By index of a log record, the index of its resource."""
    rejected: int = 0
    """Spans or log records that were left out."""
    reason: str = ""
    """Why the first of them was."""

    def reject(self, reason: str) -> None:
        """Count an item that is left out."""
        self.rejected += 1
        self.reason = self.reason or reason


def flaw(trace_id: int, span_id: int, attributes: int, limits: Limits) -> str:
    """Say why a span cannot be taken; "" if it can."""
    if not span_id or not trace_id:
        return "a span without trace_id or span_id"
    if attributes > limits.max_attributes:
        return f"a span with {attributes} attributes; allowed: {limits.max_attributes}"
    return ""
