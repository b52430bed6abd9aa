"""Which session, run and turn spans belong to, in any order and however they are put together."""

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings, strategies as st

from otel_watchdog import (
    ModelTurn,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    instrumentations,
)
from otel_watchdog.dialects import BUILT_IN
from otel_watchdog.scopes import Scopes
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import LogRecord, RecordedSpan, SpanEvent

if TYPE_CHECKING:
    from otel_watchdog.model import Observation

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"}
MODEL = {"gen_ai.operation.name": "chat"}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}


class Trace:
    """Opens and closes spans by name, one tick of the clock each."""

    def __init__(self, **options):
        self.scopes = Scopes()
        self.sessions = Sessions(self._read, **options)
        self.spans = {}
        self.now = 0.0

    def _read(self, span):
        return self.scopes.read(self.scopes[span.scope], span)

    def open(self, name, attributes=None, parent=None, scope="app", trace_id=1):
        """Begin a span."""
        self.now += 1
        self.spans[name] = RecordedSpan(
            name=name,
            scope=scope,
            trace_id=trace_id,
            span_id=len(self.spans) + 1,
            parent_id=self.spans[parent].span_id if parent else None,
            attributes=dict(attributes or {}),
            start=self.now,
        )
        span = self.spans[name]
        self.sessions.open(span.span_id, span.parent_id, span)

    def close(self, name, *, failed=None, **attributes):
        """End a span, with more attributes; return what it adds."""
        self.now += 1
        span = self.spans[name]
        span.attributes = span.attributes | {k.replace("__", "."): v for k, v in attributes.items()}
        span.end = self.now
        span.is_error = failed
        node = self.sessions.close(span.span_id, span.parent_id)
        return self.sessions.observe(node, span, self._read(span))

    def add(self, name, attributes=None, parent=None, scope="app", **more):
        """Begin a span and end it at once; return what it adds."""
        self.open(name, attributes, parent, scope)
        return self.close(name, **more)


def tool(call_id=None, **more):
    """Return the attributes of a tool span."""
    return TOOL | ({"gen_ai.tool.call.id": call_id} if call_id else {}) | more


def test_a_run_that_only_wraps_another_never_appears():
    """Of an agent around an agent, the one that has the model calls is the run."""
    trace = Trace()
    trace.open("outer", AGENT | {"gen_ai.agent.name": "outer"})
    trace.open("inner", AGENT, "outer")

    told = trace.add("chat", MODEL, "inner") + trace.close("inner") + trace.close("outer")

    assert [type(o) for o in told] == [RunStarted, ModelTurn, RunEnded]
    assert told[0].agent == "fixer"


def test_a_tool_span_in_another_of_the_same_tool_is_one_call():
    """The outer span counts; what only the inner one says is added to it."""
    trace = Trace()
    trace.open("run", AGENT)
    trace.open("outer", {"openinference.span.kind": "TOOL", "tool.name": "read"}, "run")

    told = trace.add("inner", tool("c1"), "outer", "native", failed=True)
    told += trace.close("outer", output__value="broken")

    assert [type(o) for o in told] == [RunStarted, ModelTurn, ToolCall, ToolResult]
    assert told[-1].call_id == "c1"
    assert told[-1].outcome is ToolOutcome.ERROR


def test_a_tool_span_beside_another_instrumentations_of_the_same_call_is_one_call():
    """MCP's own span stands beside the SDK's, and its name lacks the server's."""
    trace = Trace()
    trace.open("run", AGENT)
    trace.open("outer", tool("c1") | {"gen_ai.tool.name": "mcp__files__read"}, "run", "sdk")

    told = trace.add("inner", TOOL, "run", "mcp") + trace.close("outer")

    assert [o.name for o in told if type(o) is ToolCall] == ["mcp__files__read"]


def test_a_model_span_in_or_beside_another_instrumentations_is_one_turn():
    """The Anthropic SDK's own spans stand in or beside those of whoever wraps it."""
    trace = Trace()
    trace.open("run", AGENT)
    trace.open("first", MODEL, "run", "wrapper")
    told = trace.add("in it", MODEL, "first", "sdk") + trace.close("first")
    trace.open("second", MODEL, "run", "wrapper")
    told += trace.add("beside it", MODEL, "run", "sdk") + trace.close("second")

    assert [o.turn for o in told if type(o) is ModelTurn] == [1, 2]


def test_a_model_span_that_contains_its_tools_is_their_turn():
    """Where the model span ends after its tools, they are of its turn and told of once."""
    trace = Trace()
    trace.open("run", AGENT)
    trace.open("chat", MODEL, "run")
    told = trace.add("tool", tool("c1"), "chat")
    answer = '[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"read"}]}]'

    told += trace.close("chat", gen_ai__output__messages=answer)

    assert [(type(o), o.turn) for o in told[1:]] == [(ToolCall, 1), (ToolResult, 1), (ModelTurn, 1)]


def test_parallel_tools_are_told_in_the_order_in_which_they_began():
    """Without a model's answer to go by, a quick tool waits for one that began before it."""
    trace = Trace()
    trace.open("run", AGENT)
    trace.open("slow", tool("c1"), "run")
    trace.open("quick", tool("c2"), "run")

    told = trace.close("quick") + trace.close("slow")

    assert [o.call_id for o in told if type(o) is ToolCall] == ["c1", "c2"]
    assert {o.turn for o in told[1:]} == {1}


def test_a_tool_span_that_never_ends_holds_nothing_back_for_good():
    """When the step around them ends, the tools that waited are told of."""
    trace = Trace()
    trace.open("run", AGENT)
    trace.open("step", {"openinference.span.kind": "CHAIN"}, "run")
    trace.open("abandoned", TOOL, "step")
    held = trace.add("quick", tool("c2"), "step")

    told = trace.close("step")

    assert not [o for o in held if type(o) is ToolCall]
    assert [o.call_id for o in told if type(o) is ToolCall] == ["c2"]


def test_an_agent_in_a_tool_has_a_session_of_its_own():
    """A sub-agent without a span of its own is the run inside the tool that asked for it."""
    trace = Trace()
    trace.open("run", AGENT | {"gen_ai.conversation.id": "talk"})
    trace.add("chat", MODEL, "run")
    trace.open("ask", tool("c1") | {"gen_ai.tool.name": "ask"}, "run")

    told = trace.add("inner chat", MODEL, "ask") + trace.close("ask")

    assert [(type(o), o.session) for o in told] == [
        (RunStarted, "talk/ask"),
        (ModelTurn, "talk/ask"),
        (RunEnded, "talk/ask"),
        (ToolCall, "talk"),
        (ToolResult, "talk"),
    ]


def test_a_tool_that_asks_a_model_is_no_agent():
    """A model call inside a tool that asks for no tools is the tool's own business."""
    trace = Trace()
    trace.open("run", AGENT)
    trace.open("summarise", TOOL, "run")
    answer = '[{"role":"assistant","parts":[{"type":"text","content":"short"}]}]'

    told = trace.add("chat", MODEL | {"gen_ai.output.messages": answer}, "summarise")

    assert told == []


def test_a_conversation_goes_on_in_the_next_trace():
    """Runs of one agent in one conversation share its session, whatever their traces."""
    trace = Trace()
    talk = AGENT | {"gen_ai.conversation.id": "talk"}
    trace.open("first", talk, trace_id=1)
    told = trace.add("chat 1", MODEL, "first") + trace.close("first")
    trace.open("second", talk, trace_id=2)
    told += trace.add("chat 2", MODEL, "second") + trace.close("second")

    assert {o.session for o in told} == {"talk"}
    assert len({o.run for o in told if type(o) is RunStarted}) == 2


def test_a_conversation_that_is_known_late_is_found():
    """An id that only the run's last span carries is bound to the session that there is."""
    trace = Trace()
    trace.open("run", AGENT)
    told = trace.add("chat", MODEL, "run")

    trace.close("run", gen_ai__conversation__id="talk")

    assert trace.sessions.find("talk", "fixer") == told[0].session
    assert trace.sessions.find("talk") == told[0].session


def test_a_run_that_says_nothing_when_it_begins_is_ended():
    """The children of a span that is read only at its end came before it, and are its own."""
    trace = Trace()
    trace.open("run", {})
    told = trace.add("chat", MODEL | {"gen_ai.agent.name": "fixer"}, "run")

    told += trace.close("run", **{key.replace(".", "__"): value for key, value in AGENT.items()})

    assert [type(o) for o in told] == [RunStarted, ModelTurn, RunEnded]


def test_the_next_run_without_a_span_at_its_start_is_another():
    """A run that ended takes no more calls, though the conversation is the same."""
    trace = Trace()
    told = []
    for name in ("first", "second"):
        trace.open(name, {})
        told += trace.add(f"chat {name}", MODEL | {"gen_ai.conversation.id": "talk"}, name)
        told += trace.close(name, gen_ai__operation__name="invoke_agent")

    assert [type(o) for o in told] == [RunStarted, ModelTurn, RunEnded] * 2
    assert [o.turn for o in told if type(o) is ModelTurn] == [1, 1]


def test_an_applications_root_names_the_session():
    """Model calls in a loop written by hand are put to the session that the root span names."""
    trace = Trace()
    trace.open("POST /chat", {"session.id": "talk"})

    told = trace.add("chat", MODEL, "POST /chat") + trace.close("POST /chat")

    assert [type(o) for o in told] == [RunStarted, ModelTurn, RunEnded]
    assert {o.session for o in told} == {"talk"}


def test_a_span_that_comes_after_its_run_is_put_to_it():
    """Callbacks from another thread may end a tool span after the agent's."""
    trace = Trace()
    trace.open("run", AGENT)
    told = trace.add("chat", MODEL, "run")
    trace.open("late", tool("c1"), "run")
    trace.close("run")

    late = trace.close("late")

    assert {o.session for o in late} == {told[0].session}
    assert not [o for o in late if type(o) is RunStarted]


def logged(trace, scope, name, *, parent=None, body=None, **attributes):
    """Write a log record; return what it adds."""
    trace.now += 1
    record = LogRecord(
        name=name,
        scope=scope,
        parent_id=trace.spans[parent].span_id if parent else None,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
        body=body,
        start=trace.now,
    )
    reading = trace.scopes.read_log(record)
    return trace.sessions.observe_log(record, reading) if reading is not None else []


def test_messages_in_log_records_add_to_the_model_span_around_them():
    """The span has tokens, the log records what was said."""
    trace = Trace()
    trace.open("chat", MODEL)
    call = {"id": "c1", "function": {"name": "read", "arguments": "{}"}}
    choice = {"message": {"role": "assistant", "content": "let me see", "tool_calls": [call]}}
    before = logged(trace, "x", "gen_ai.choice", parent="chat", body=choice)
    told = trace.close("chat")
    trace.open("next", MODEL)
    for name, body in (("assistant", {"tool_calls": [call]}), ("tool", {"id": "c1"})):
        said = {"content": "done", **body}
        logged(trace, "x", f"gen_ai.{name}.message", parent="next", body=said)

    told += trace.close("next")

    assert before == []
    assert [o.text for o in told if type(o) is ModelTurn] == ["let me see", None]
    assert [(o.call_id, o.result) for o in told if type(o) is ToolResult] == [("c1", "done")]


def test_log_records_alone_tell_of_turns_and_calls():
    """Codex writes what matters into log records; they are joined by the conversation's id."""
    trace = Trace()
    more = {"conversation__id": "talk"}

    told = logged(trace, "codex_otel", "codex.api_request", **more)
    told += logged(
        trace, "codex_otel", "codex.tool_result", tool_name="sh", call_id="c1", output="x", **more
    )
    told += logged(trace, "codex_otel", "codex.api_request", **more)

    assert [type(o) for o in told] == [RunStarted, ModelTurn, ToolCall, ToolResult, ModelTurn]
    assert [o.turn for o in told[1:]] == [1, 1, 1, 2]
    assert {o.session for o in told} == {"talk"}


def test_a_turn_that_a_log_record_told_of_is_not_told_again():
    """Where model spans come too, they count the turns."""
    trace = Trace()
    more = {"conversation__id": "talk"}
    spans = {"conversation.id": "talk"}

    told = []
    for turn in "12":
        trace.open(f"chat {turn}", scope="codex_x")
        trace.spans[f"chat {turn}"].name = "codex.sampling"
        told += logged(trace, "codex_otel", "codex.api_request", **more)
        trace.spans[f"chat {turn}"].attributes = spans
        told += trace.close(f"chat {turn}")

    assert [o.turn for o in told if type(o) is ModelTurn] == [1, 2]


CLAUDE = "com.anthropic.claude_code.x"


def claude_tool(trace, name, call_id):
    """Begin a tool span of Claude Code."""
    attributes = {"tool_name": "Read", "tool_use_id": call_id, "session.id": "talk"}
    trace.open(name, attributes, "run", CLAUDE)
    trace.spans[name].name = "claude_code.tool"


def test_a_calls_arguments_from_a_log_record_and_its_result_from_the_span_are_one_call():
    """Whichever comes first, and in the order in which the calls began."""
    trace = Trace()
    trace.open("run", {"session.id": "talk"}, scope=CLAUDE)
    trace.spans["run"].name = "claude_code.interaction"
    claude_tool(trace, "a", "c1")
    claude_tool(trace, "b", "c2")
    more = {"tool_name": "Read", "success": "true", "session__id": "talk", "parent": "run"}

    told = trace.close("b")
    told += logged(trace, CLAUDE, "tool_result", tool_use_id="c2", tool_input="{}", **more)
    told += logged(trace, CLAUDE, "tool_result", tool_use_id="c1", tool_input="{}", **more)
    told += trace.close("a")

    calls = [(o.call_id, o.arguments) for o in told if type(o) is ToolCall]
    assert calls == [("c1", "{}"), ("c2", "{}")]


def test_a_call_whose_log_record_never_comes_is_told_at_the_end():
    """Its arguments stay unknown."""
    trace = Trace()
    trace.open("run", {"session.id": "talk"}, scope=CLAUDE)
    trace.spans["run"].name = "claude_code.interaction"
    claude_tool(trace, "a", "c1")

    waiting = trace.close("a")
    told = trace.close("run")

    assert ToolCall not in {type(o) for o in waiting}
    assert [(o.call_id, o.arguments) for o in told if type(o) is ToolCall] == [("c1", None)]


def test_what_is_kept_is_bounded():
    """Open spans and sessions are dropped, oldest first, and counted."""
    trace = Trace(max_sessions=2, max_open_spans=3)
    for number in range(5):
        trace.open(f"open {number}")
        trace.add(f"chat {number}", MODEL | {"gen_ai.conversation.id": f"talk {number}"})

    assert len(trace.sessions.open_spans) <= 3
    assert [session.key for session in trace.sessions.known()] == ["talk 3", "talk 4"]
    assert trace.sessions.dropped == 3 + 3


def test_a_silent_session_is_forgotten():
    """After its time to live a session is forgotten, without being counted as dropped."""
    trace = Trace(ttl_seconds=10)
    trace.add("chat", MODEL | {"gen_ai.conversation.id": "old"})
    trace.now += 100

    trace.add("chat again", MODEL | {"gen_ai.conversation.id": "new"})

    assert [session.key for session in trace.sessions.known()] == ["new"]
    assert trace.sessions.dropped == 0


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
