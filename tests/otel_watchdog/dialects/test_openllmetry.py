"""OpenLLMetry; real spans are in `test_recordings.py`."""

import pytest

from otel_watchdog import ToolOutcome
from otel_watchdog.dialects import OpenLLMetry
from otel_watchdog.spans import ModelReading, PartReading, RecordedSpan, RunReading


def read(attributes, name="span"):
    """Read a span that ended."""
    span = RecordedSpan(name=name, scope="x", trace_id=1, span_id=1, attributes=attributes, end=1.0)
    return OpenLLMetry().read(span)


TOOL = {"traceloop.span.kind": "tool", "traceloop.entity.name": "read"}


def test_a_tool_is_taken_out_of_its_envelopes():
    """LangChain's tools are recorded with all that surrounds the call."""
    reading = read(
        TOOL
        | {
            "traceloop.entity.input": '{"input_str": "{\'p\': 1}", "tags": [], "metadata": {}, '
            '"inputs": {"p": 1}, "kwargs": {"tool_call_id": "c1"}}',
            "traceloop.entity.output": '{"output": {"lc": 1, "kwargs": {"content": "done", '
            '"tool_call_id": "c1", "status": "success"}}, "kwargs": {}}',
            "traceloop.association.properties.session_id": "talk",
            "traceloop.association.properties.lc_agent_name": "fixer",
        }
    )

    assert (reading.name, reading.arguments, reading.result) == ("read", '{"p":1}', "done")
    assert (reading.call_id, reading.session, reading.agent) == ("c1", "talk", "fixer")


def test_a_task_that_failed_is_a_failure():
    """Not every failed tool has the status of one."""
    assert read(TOOL | {"gen_ai.task.status": "failure"}).outcome is ToolOutcome.ERROR


def test_agnos_result_tells_of_a_failure():
    """Agno's tools give back an object that only its text shows."""
    output = "status='failure' result=None error='no such file' updated_session_state=None"

    reading = read(TOOL | {"traceloop.entity.output": output})

    assert (reading.outcome, reading.error) == (ToolOutcome.ERROR, "no such file")


@pytest.mark.parametrize(
    ("kind", "reading"),
    [
        ("agent", RunReading("fixer")),
        ("workflow", RunReading()),
        ("task", PartReading()),
    ],
)
def test_agents_and_workflows_are_runs_and_tasks_are_not(kind, reading):
    """CrewAI's tasks claim the operation of an agent."""
    attributes = {
        "traceloop.span.kind": kind,
        "traceloop.entity.name": "fixer",
        "gen_ai.operation.name": "invoke_agent",
    }

    assert read(attributes) == reading


def test_a_model_call_is_read_from_older_flattened_messages():
    """Anthropic's tool results stand as blocks of JSON in a user's message."""
    reading = read(
        {
            "llm.request.type": "chat",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "let me see",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "read",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": '[{"type": "tool_result", "tool_use_id": "c0", '
            '"content": "broken", "is_error": true}]',
        }
    )

    assert isinstance(reading, ModelReading)
    assert reading.output is not None
    assert [call.call_id for call in reading.output[0].calls] == ["c1"]
    assert reading.history is not None
    result = reading.history.since(None)[0][0].results[0]
    assert (result.call_id, result.content, result.is_error) == ("c0", "broken", True)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"llm.request.type": "embedding"},
        {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"},
        {"gen_ai.operation.name": "execute_task", "traceloop.entity.path": "x"},
    ],
)
def test_other_spans_are_not_read(attributes):
    """What follows the GenAI conventions alone is read there; embeddings are no turn."""
    assert read(attributes) is None
