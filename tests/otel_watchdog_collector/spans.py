"""Requests for the tests: an agent that calls the same tool again and again."""

import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

SECOND = 1_000_000_000
START = 1_790_000_000


def request(
    *, agent="fixer", service="shop", conversation="conv", turns=range(1, 9), seed=1, start=START
):
    """Return a trace request in which `agent` makes one equal call a turn.

    Args:
        agent: Its name.
        service: `service.name`.
        conversation: Id of the conversation; `None`: the trace stands for it.
        turns: Which turns.
        seed: Makes ids of spans and trace unique.
        start: When its turns begin, in seconds since the epoch.
    """
    made = ExportTraceServiceRequest()
    group = made.resource_spans.add()
    pair(group.resource.attributes, "service.name", service)
    scope = group.scope_spans.add()
    scope.scope.name = "opentelemetry.instrumentation.test_agent"
    for turn in turns:
        add_turn(scope.spans, turn, agent, conversation, seed, start)
    return made


def add_turn(spans, turn, agent, conversation, seed, began):
    """Add a model call and the tool call that it asks for."""
    root = (seed << 32) + 1
    start = (began + turn * 60) * SECOND
    for kind, name, offset in (("chat", "chat m", 1), ("execute_tool", "execute_tool ls", 2)):
        span = spans.add()
        span.trace_id = seed.to_bytes(16)
        span.span_id = ((seed << 32) + turn * 10 + offset + 1).to_bytes(8)
        span.parent_span_id = root.to_bytes(8)
        span.name = name
        span.start_time_unix_nano = start + offset * SECOND
        span.end_time_unix_nano = start + (offset + 1) * SECOND - 1
        pair(span.attributes, "gen_ai.operation.name", kind)
        pair(span.attributes, "gen_ai.agent.name", agent)
        if conversation is not None:
            pair(span.attributes, "gen_ai.conversation.id", conversation)
        if kind == "execute_tool":
            pair(span.attributes, "gen_ai.tool.name", "ls")
            pair(span.attributes, "gen_ai.tool.call.id", f"call-{seed}-{turn}")
            pair(span.attributes, "gen_ai.tool.call.arguments", '{"path": "."}')
            pair(span.attributes, "gen_ai.tool.call.result", "a b c")


def logs(turn, conversation, start=START):
    """Return a request in OTLP/JSON with the record that Codex writes when a tool has ended."""
    said = {
        "event.name": "codex.tool_result",
        "conversation.id": conversation,
        "tool_name": "exec_command",
        "call_id": f"call-{turn}",
        "success": "true",
        "arguments": '{"cmd": "make test"}',
        "output": "make: nothing to be done",
    }
    record = {
        "timeUnixNano": str((start + turn) * SECOND),
        "attributes": [{"key": key, "value": {"stringValue": v}} for key, v in said.items()],
    }
    scope = {"scope": {"name": "codex_otel.log_only"}, "logRecords": [record]}
    return orjson.dumps({"resourceLogs": [{"resource": {}, "scopeLogs": [scope]}]})


def pair(target, key, value):
    """Add a text attribute."""
    made = target.add()
    made.key = key
    made.value.string_value = value


def as_json(made):
    """Return a trace request as OTLP/JSON."""
    return orjson.dumps(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": _pairs(group.resource.attributes)},
                    "scopeSpans": [
                        {
                            "scope": {"name": part.scope.name},
                            "spans": [_span(span) for span in part.spans],
                        }
                        for part in group.scope_spans
                    ],
                }
                for group in made.resource_spans
            ]
        }
    )


def _span(span):
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": span.name,
        "startTimeUnixNano": str(span.start_time_unix_nano),
        "endTimeUnixNano": str(span.end_time_unix_nano),
        "attributes": _pairs(span.attributes),
    }


def _pairs(attributes):
    return [{"key": p.key, "value": {"stringValue": p.value.string_value}} for p in attributes]
