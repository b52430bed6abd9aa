"""What stands in log records alone is read in a live process, and nothing of it can do harm."""

from typing import Any

import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.sdk._logs import LoggerProvider

from otel_watchdog import live_logs
from otel_watchdog.live_logs import WatchdogLogRecordProcessor
from tests.otel_watchdog.traced_agent import Traced

SCOPE = "opentelemetry.instrumentation.openai_v2"


def answer(call_id: str) -> dict[str, Any]:
    """Return the body of a model's answer that asks for the same call each time."""
    function = {"name": "build", "arguments": '{"target":"all"}'}
    call = {"id": call_id, "type": "function", "function": function}
    return {"index": 0, "message": {"role": "assistant", "tool_calls": [call]}}


@pytest.fixture
def logger_provider():
    provider = LoggerProvider(shutdown_on_exit=False)
    yield provider
    provider.shutdown()


def chat(traced, logger, number):
    """Write a model span as this instrumentation does: its messages are log records."""
    tracer = traced.provider.get_tracer(SCOPE)
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
    with tracer.start_as_current_span("chat gpt-4o", attributes=attributes):
        record = LogRecord(event_name="gen_ai.choice", body=answer(f"c{number}"), timestamp=1)
        logger.emit(record)


@pytest.mark.parametrize(("heard", "found"), [(True, 1), (False, 0)])
def test_a_loop_that_only_log_records_tell_of_is_corrected(logger_provider, heard, found):
    """Without the processor, nothing tells of the calls."""
    traced = Traced()
    if heard:
        logger_provider.add_log_record_processor(WatchdogLogRecordProcessor(traced.watchdog))
    logger = logger_provider.get_logger(SCOPE)

    with traced.run():
        for number in range(6):
            chat(traced, logger, number)

    assert len(traced.corrections()) == found
    assert all(
        span.attributes["watchdog.detector.name"] == "repeated_tool_call"
        for span in traced.corrections()
    )


def test_the_watchdog_made_last_is_found(logger_provider):
    """One line in a logging set-up needs no handle on the tracing set-up."""
    logger_provider.add_log_record_processor(WatchdogLogRecordProcessor())
    traced = Traced()
    logger = logger_provider.get_logger(SCOPE)

    with traced.run():
        for number in range(6):
            chat(traced, logger, number)

    assert len(traced.corrections()) == 1


@pytest.mark.parametrize(
    "record",
    [
        LogRecord(body="a line of a program's log"),
        LogRecord(event_name="gen_ai.choice", body=None),
        LogRecord(event_name="gen_ai.choice", body={"message": 7}),
        LogRecord(event_name="gen_ai.choice", body={"message": {"tool_calls": "many"}}),
        LogRecord(event_name="gen_ai.choice", body=answer("c"), attributes={"event.name": "other"}),
    ],
)
def test_other_records_are_left_alone(logger_provider, record):
    """In a span or outside of any, whatever they hold."""
    traced = Traced()
    logger_provider.add_log_record_processor(WatchdogLogRecordProcessor(traced.watchdog))
    logger = logger_provider.get_logger(SCOPE)

    logger.emit(record)
    with traced.run():
        logger.emit(record)

    assert traced.corrections() == []
    assert logger_provider.force_flush()


def test_a_failure_never_reaches_the_program(logger_provider, monkeypatch):
    """It is counted and told of like any other."""
    failures = []
    traced = Traced(on_error=lambda place, error: failures.append((place, str(error))))
    logger_provider.add_log_record_processor(WatchdogLogRecordProcessor(traced.watchdog))
    monkeypatch.setattr(live_logs, "_plain", lambda *_: 1 / 0)

    with traced.run():
        logger_provider.get_logger(SCOPE).emit(LogRecord(body="x"))

    assert failures == [("on_emit", "division by zero")]
