"""Log records of agents: heartbeats and steps of questions to people."""

import pytest

from otel_watchdog import semconv
from otel_watchdog.spans import LogRecord
from otel_watchdog_collector.fleet import records
from otel_watchdog_collector.health import SignKind
from otel_watchdog_collector.wire import Batch, Resource


def batch(event, *attributes, service="shop"):
    """Return a batch of records."""
    return Batch(
        resources=[Resource({"service.name": service} if service else {})],
        records=[LogRecord(name=event, scope="", attributes=dict(one)) for one in attributes],
        record_resources=[0] * len(attributes),
    )


def test_a_heartbeat_is_read_whole():
    """All that the in-process part sends."""
    said = {
        semconv.GEN_AI_AGENT_NAME: "fixer",
        semconv.HEARTBEAT_OPEN_SPANS: 2,
        semconv.HEARTBEAT_OLDEST_OPEN_SECONDS: 90.5,
        semconv.HEARTBEAT_IDLE_SECONDS: 4,
        semconv.HEARTBEAT_NAMES: ["invoke_agent fixer", "chat m"],
        semconv.HEARTBEAT_AGES: [90.5, 4],
        semconv.HEARTBEAT_UPTIME_SECONDS: 300.0,
        semconv.HEARTBEAT_QUEUED: 3,
        semconv.HEARTBEAT_IDLE_REASON: "night",
        semconv.HEARTBEAT_STOPPING: True,
    }

    (sign,) = records.beats(batch(semconv.HEARTBEAT_EVENT, said))

    assert (sign.id, sign.kind) == ("shop/fixer", SignKind.HEARTBEAT)
    beat = sign.beat
    assert beat is not None
    assert (beat.open_spans, beat.oldest_open_seconds, beat.idle_seconds) == (2, 90.5, 4.0)
    assert (beat.names, beat.ages) == (("invoke_agent fixer", "chat m"), (90.5, 4.0))
    assert (beat.queued, beat.idle_reason, beat.uptime_seconds) == (3, "night", 300.0)
    assert beat.stopping


@pytest.mark.parametrize(
    "wrong", ["x", -1, True, 10**30, float("nan"), float("inf"), None, [1], {"a": 1}], ids=repr
)
def test_what_is_wrong_is_not_said(wrong):
    """Records come from outside: nothing in them may make the service fail."""
    names = (
        semconv.GEN_AI_AGENT_NAME,
        semconv.HEARTBEAT_OPEN_SPANS,
        semconv.HEARTBEAT_IDLE_SECONDS,
        semconv.HEARTBEAT_NAMES,
        semconv.HEARTBEAT_AGES,
        semconv.HEARTBEAT_UPTIME_SECONDS,
        semconv.HEARTBEAT_QUEUED,
    )

    (sign,) = records.beats(batch(semconv.HEARTBEAT_EVENT, dict.fromkeys(names, wrong)))

    beat = sign.beat
    assert beat is not None
    assert (beat.open_spans, beat.idle_seconds, beat.uptime_seconds) == (None, None, None)
    assert beat.queued is None
    assert all(0 <= age < 1e9 for age in beat.ages)


def test_long_lists_and_texts_are_cut():
    """A heartbeat is small, whoever sends it."""
    said = {
        semconv.GEN_AI_AGENT_NAME: "a" * 5000,
        semconv.HEARTBEAT_NAMES: ["n" * 5000] * 1000,
        semconv.HEARTBEAT_AGES: [1.0] * 1000,
    }

    (sign,) = records.beats(batch(semconv.HEARTBEAT_EVENT, said, service=None))

    assert sign.service == "unknown_service"
    assert sign.beat is not None
    assert len(sign.beat.names) == len(sign.beat.ages) == records.MAX_NAMES
    assert max(len(sign.agent or ""), len(sign.beat.names[0])) == records.MAX_CHARS


def test_other_records_are_none_of_ours():
    """Logs of programs come by the same way."""
    assert list(records.beats(batch("app.log", {"a": 1}))) == []
    assert list(records.approvals(batch("app.log", {"a": 1}), "t", 1.0)) == []


@pytest.mark.parametrize(
    ("step", "state"),
    [("asked", "asked"), ("allow", "answered"), ("stop", "answered"), ("unanswered", "unanswered")],
)
def test_a_step_of_a_question_makes_its_row(step, state):
    """One row a question, by what is asked about; who answered stands in it."""
    said = {
        semconv.WATCHDOG_APPROVAL_STEP: step,
        semconv.WATCHDOG_APPROVAL_BY: "ada",
        semconv.WATCHDOG_APPROVAL_SCOPE: "tool",
        semconv.WATCHDOG_SESSION: "s1",
        semconv.WATCHDOG_TURN: 6,
        semconv.WATCHDOG_DETECTOR_NAME: "repeated_tool_call",
    }

    (row,) = records.approvals(batch(semconv.APPROVAL_EVENT, said), "t", 1_790_000_000.0)

    assert (row.tenant, row.id) == ("t", "s1/6/repeated_tool_call")
    assert (row.fields["state"], row.fields["step"], row.fields["by"]) == (state, step, "ada")
    assert row.fields["at"] == "2026-09-21T14:13:20.000Z"
