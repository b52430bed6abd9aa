"""OTLP requests as they come over the wire: bytes in, spans and log records out."""

from otel_watchdog_collector.wire.batch import Batch, Limits, PlainNames, Resource
from otel_watchdog_collector.wire.body import BodyTooLarge, gunzip
from otel_watchdog_collector.wire.decode import decode

__all__ = [
    "Batch",
    "BodyTooLarge",
    "Limits",
    "PlainNames",
    "Resource",
    "decode",
    "gunzip",
]
