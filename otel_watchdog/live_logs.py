"""Reads what instrumentations of this process write into log records and not onto spans."""

from typing import Any, Final

from opentelemetry.sdk._logs import LogRecordProcessor

from otel_watchdog import instrumentations
from otel_watchdog.processor import WatchdogSpanProcessor, current
from otel_watchdog.spans import LogRecord

_NANOSECONDS: Final = 1e9


class WatchdogLogRecordProcessor(LogRecordProcessor):
    """Shows a watchdog the log records of a logger provider, beside the spans it reads anyway.

    It is needed where the doctor says so: OpenTelemetry's older GenAI events and Semantic Kernel
    have messages, arguments and results in log records alone. Records that are written outside of
    any open span, or in a scope that no dialect knows, are left alone.

    >>> from opentelemetry.sdk._logs import LoggerProvider
    >>> provider = LoggerProvider(shutdown_on_exit=False)
    >>> provider.add_log_record_processor(WatchdogLogRecordProcessor())

    Nothing it does raises into the traced program or waits for anything.

    Args:
        watchdog: Default: the one of this process, made last, whenever a record comes.
    """

    def __init__(self, watchdog: WatchdogSpanProcessor | None = None) -> None:
        self._watchdog = watchdog

    def on_emit(self, log_record: Any) -> None:
        """Read a record: see `LogRecordProcessor.on_emit`."""
        watchdog = self._watchdog or current()
        if watchdog is None:
            return
        try:
            record, scope = log_record.log_record, log_record.instrumentation_scope
            if record.span_id and scope is not None:
                watchdog.hear(_plain(record, scope.name))
        except Exception as error:  # noqa: BLE001 - nothing raises into the program
            watchdog.fail("on_emit", error)

    def shutdown(self) -> None:
        """Do nothing: the watchdog is its tracer provider's to shut down."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - nothing waits
        """Return true: nothing is held back."""
        return True


def _plain(record: Any, scope: str) -> LogRecord:
    attributes = dict(record.attributes or {})
    named = attributes.get(instrumentations.EVENT_NAME) or getattr(record, "event_name", None)
    return LogRecord(
        name=str(named or ""),
        scope=scope,
        trace_id=record.trace_id or 0,
        parent_id=record.span_id,
        attributes=attributes,
        body=record.body,
        start=(record.timestamp or record.observed_timestamp or 0) / _NANOSECONDS,
    )
