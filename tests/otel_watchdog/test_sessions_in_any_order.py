"""Any attributes on any spans and log records, in any order: never an error, never a call told twice."""

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings, strategies as st

from otel_watchdog import (
    ModelTurn,
    RunStarted,
    ToolCall,
    instrumentations,
)
from otel_watchdog.dialects import BUILT_IN
from otel_watchdog.scopes import Scopes
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import LogRecord, RecordedSpan, SpanEvent

if TYPE_CHECKING:
    from otel_watchdog.model import Observation


NAMES = [
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "gen_ai.output.messages",
    "gen_ai.input.messages",
    "gen_ai.request.model",
    "gen_ai.usage.input_tokens",
    "gen_ai.prompt.0.role",
    "gen_ai.prompt.0.content",
    "gen_ai.prompt.99999999999999999999.role",
    "gen_ai.completion.0.role",
    "gen_ai.completion.0.tool_calls.0.name",
    "openinference.span.kind",
    "tool.name",
    "tool.id",
    "tool.parameters",
    "input.value",
    "output.value",
    "metadata",
    "session.id",
    "llm.input_messages.0.message.role",
    "llm.input_messages.0.message.content",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name",
    "llm.output_messages.0.message.tool_calls.0.tool_call.id",
    "traceloop.span.kind",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "langfuse.observation.type",
    "langfuse.observation.input",
    "langfuse.observation.output",
    "langfuse.observation.metadata.tool_call_id",
    "langfuse.observation.metadata.lc_agent_name",
    "error.type",
    "gen_ai.completion",
    "gen_ai.completion.0.function_call.name",
    "langsmith.metadata.thread_id",
    "llm.x.choices",
    "llm.x.messages",
    "response",
    "raw_input",
    "name",
    "input",
    "output",
    "error",
    "tool_name",
    "tool_input",
    "success",
    "call_id",
    "arguments",
    *(name for key, name in vars(instrumentations).items() if key.isupper()),
]


TEXTS = [
    "execute_tool",
    "chat",
    "invoke_agent",
    "TOOL",
    "LLM",
    "AGENT",
    "CHAIN",
    "tool",
    "generation",
    "agent",
    "chain",
    "workflow",
    "",
    "c1",
    "c2",
    "read",
    "user",
    '{"a": 1}',
    '{"kwargs": {"tool_call_id": ["x"]}, "args": 3}',
    '{"kwargs": null, "input_str": "{"}',
    '{"lc_agent_name": 3}',
    '["lc_agent_name"]',
    '{"output": {"kwargs": {"content": null, "tool_call_id": 3}}}',
    '{"raw_output": null, "blocks": [{"text": 3}], "is_error": "x"}',
    '{"result": null}',
    "{'error': (1, 2)}",
    "{'a': " * 90,
    "[" * 3000,
    '[{"role":"assistant","tool_calls":3}]',
    '[{"role":"assistant","tool_calls":[{"function":3,"id":["c1"]}]}]',
    '[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"read"}]}]',
    '[{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":{"result":1}}]}]',
    '[{"role":["x"],"content":{"a":1}}, 3, null, "x"]',
    '[{"role":"tool","content":[{"type":"text"}],"tool_call_id":{}}]',
    '"TOOL"',
    '"CHAT_MODEL"',
    "ai.toolCall",
    "ai.generateText.doGenerate",
    "llm",
    "llm_call",
    "tool_call",
    "dispatch",
    '[{"toolUse": {"toolUseId": 3, "name": ["x"]}}, {"toolResult": null}]',
    '{"generations": [[{"message": {"kwargs": {"kwargs": {"kwargs": 3}}}}]]}',
    '{"replies": [{"meta": 3}]}',
    '{"data": 3, "message": 4}',
    '{"response": {"responseParts": [{"functionResponse": {"response": {"x": 1}}}, 3]}}',
    '{"type": "error-text", "value": null}',
    "completed with exit code 7",
    "Traceback (most recent call last)",
    "Error: no",
    "status='failure' result=None error='x' updated_session_state=None",
    "\ud800",
]


VALUES = st.one_of(
    st.sampled_from(TEXTS),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.lists(st.sampled_from(TEXTS), max_size=2),
    st.dictionaries(st.sampled_from(TEXTS), st.integers(), max_size=1),
)


SPAN_NAMES = [
    "execute_tool read",
    "execute_tool (merged)",
    "invoke_agent x",
    "handoff to x",
    "read",
    "Step 1",
    "turn",
    "",
    "call_llm",
    "claude_code.tool",
    "claude_code.tool.execution",
    "claude_code.llm_request",
    "codex.sampling",
    "haystack.agent.step.tool",
    "haystack.agent.step.llm",
    "haystack.component.run",
    "Function: {name}",
    "Chat completion",
    "raw_gen_ai_request",
    "litellm_request",
]


SCOPES = [
    "pydantic-ai",
    "openinference.instrumentation.x",
    "langfuse-sdk",
    "app",
    "ai",
    "codex_x",
    "com.anthropic.claude_code.x",
    "gcp.vertex.agent",
    "gemini-cli",
    "haystack",
    "langsmith",
    "litellm",
    "logfire.openai_agents",
    "mlflow.x",
    "strands.x",
]


LOG_NAMES = [
    "api_request",
    "tool_result",
    "codex.api_request",
    "codex.tool_result",
    "gen_ai.user.message",
    "gen_ai.assistant.message",
    "gen_ai.tool.message",
    "gen_ai.choice",
    "gen_ai.client.inference.operation.details",
    "",
]


LOGS = st.builds(
    LogRecord,
    name=st.sampled_from(LOG_NAMES),
    scope=st.sampled_from(SCOPES),
    trace_id=st.integers(0, 2),
    parent_id=st.one_of(st.none(), st.integers(1, 9)),
    attributes=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=12),
    body=VALUES,
    start=st.floats(0, 10),
)


SPANS = st.builds(
    RecordedSpan,
    name=st.sampled_from(SPAN_NAMES),
    scope=st.sampled_from(SCOPES),
    trace_id=st.integers(1, 2),
    span_id=st.integers(1, 9),
    parent_id=st.one_of(st.none(), st.integers(1, 9)),
    attributes=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=12),
    events=st.lists(
        st.builds(
            SpanEvent,
            st.sampled_from(["exception", "tool.output", *LOG_NAMES]),
            st.dictionaries(
                st.sampled_from(
                    ["exception.message", "content", "message", "gen_ai.output.messages"]
                ),
                VALUES,
                max_size=2,
            ),
        ),
        max_size=2,
    ),
    is_error=st.sampled_from([None, True, False]),
    status_text=st.sampled_from(["", "broken"]),
    start=st.floats(0, 10),
    end=st.one_of(st.none(), st.floats(0, 10)),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(moments=st.lists(st.tuples(st.one_of(SPANS, LOGS), st.booleans()), max_size=25))
def test_any_spans_in_any_order_are_told_in_order(moments):
    """Whatever comes: no exception, a run starts before all else, turns grow, ids are told once."""
    scopes = Scopes([dialect() for dialect in BUILT_IN])
    sessions = Sessions(lambda span: scopes.read(scopes[span.scope], span), max_open_spans=5)
    told: list[tuple[object, Observation]] = []

    for span, opens in moments:
        if isinstance(span, LogRecord):
            reading = scopes.read_log(span)
            if reading is not None:
                told += [(span, o) for o in sessions.observe_log(span, reading)]
        elif opens:
            sessions.open(span.span_id, span.parent_id, span)
        else:
            node = sessions.close(span.span_id, span.parent_id)
            reading = scopes.read(scopes[span.scope], span)
            told += [(node, o) for o in sessions.observe(node, span, reading)]

    started: dict[str, list[str]] = {}
    for _, observation in told:
        if type(observation) is RunStarted:
            started.setdefault(observation.session, []).append(observation.run)
        else:
            assert observation.session in started
    alone = [session for session, runs in started.items() if len(runs) == 1]
    for session in alone:
        own = [o for _, o in told if o.session == session]
        ids = [o.call_id for o in own if type(o) is ToolCall and o.call_id]
        turns = [o.turn for o in own if type(o) in {ModelTurn, ToolCall}]
        assert len(set(ids)) == len(ids)
        assert turns == sorted(turns)
