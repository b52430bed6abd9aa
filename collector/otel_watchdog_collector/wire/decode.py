"""The body of an entry, decoded as what it is."""

from collections.abc import Container

from otel_watchdog_collector.facts import Kind
from otel_watchdog_collector.wire import json, protobuf
from otel_watchdog_collector.wire.batch import Batch, Limits, PlainNames


def nothing_is_plain(_: str) -> Container[str]:
    """Have all spans read."""
    return ()


def decode(
    kind: Kind, body: bytes, limits: Limits, *, plain: PlainNames = nothing_is_plain
) -> Batch:
    """Return what the body of a request holds.

    Args:
        kind: One of the four OTLP kinds.
        body: Decompressed.
        limits: What is rejected.
        plain: Spans that need not be read.

    Raises:
        InputError: It is no such request.
    """
    if kind.is_traces:
        read_traces = json.read_traces if kind.is_json else protobuf.read_traces
        return read_traces(body, limits, plain)
    read_logs = json.read_logs if kind.is_json else protobuf.read_logs
    return read_logs(body, limits)
