"""Counters and gauges of the service itself, for Prometheus."""

from collections.abc import Callable, Mapping
from typing import Final

PREFIX: Final = "otel_watchdog_collector_"
"""Opens the name of every metric."""

COUNTERS: Final[Mapping[str, str]] = {
    "received_spans_total": "Spans taken in and kept.",
    "received_log_records_total": "Log records taken in and kept.",
    "rejected_spans_total": "Spans of accepted batches that were no OTLP spans or over a limit.",
    "duplicate_spans_total": "Spans that had been seen before.",
    "refused_requests_total": "Requests refused for now: full, over the rate, or no storage.",
    "bad_requests_total": "Requests refused for good: undecodable, too large, no such type.",
    "denied_requests_total": "Requests without a token, or with one that may not do this.",
    "corrections_total": "Corrections made, would-be ones too.",
    "findings_total": "Findings.",
    "delivered_corrections_total": "Corrections that agents acknowledged.",
    "expired_corrections_total": "Corrections that no agent took in time.",
    "heartbeats_total": "Heartbeats of agents.",
    "fleet_actions_total": "Restarts, pauses and resumptions of agents that were asked for.",
    "exported_batches_total": "Batches that a destination accepted.",
    "failed_exports_total": "Attempts to export that failed and are tried again.",
    "dropped_exports_total": "Batches given up: refused for good, or the outbox was full.",
    "internal_errors_total": "Failures of ours that were kept from going further.",
    "snapshots_total": "Snapshots written.",
}
"""What is counted, by name without the prefix."""


class Meters:
    """Counts what happens; gauges are asked for when they are read.

    >>> meters = Meters()
    >>> meters.add("findings_total")
    >>> meters["findings_total"]
    1
    """

    def __init__(self) -> None:
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}

    def __getitem__(self, name: str) -> int:
        """Return a count."""
        return self._counts[name]

    def add(self, name: str, count: int = 1) -> None:
        """Count.

        Args:
            name: One of `COUNTERS`.
            count: How many.
        """
        self._counts[name] += count

    def drain(self) -> list[tuple[str, int]]:
        """Return what was counted since this was asked last, by name."""
        counted = [(name, count) for name, count in self._counts.items() if count]
        self._counts = dict.fromkeys(COUNTERS, 0)
        return counted

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Have a value read whenever the metrics are.

        Args:
            name: Without the prefix, with its unit.
            text: What it is.
            read: Returns it.
        """
        self._gauges[name] = (text, read)

    def render(self) -> str:
        """Return all as Prometheus' text format, version 0.0.4."""
        lines: list[str] = []
        for name, count in self._counts.items():
            full = PREFIX + name
            lines += [f"# HELP {full} {COUNTERS[name]}", f"# TYPE {full} counter"]
            lines.append(f"{full} {count}")
        for name, (text, read) in self._gauges.items():
            full = PREFIX + name
            lines += [f"# HELP {full} {text}", f"# TYPE {full} gauge", f"{full} {read():g}"]
        return "\n".join(lines) + "\n"
