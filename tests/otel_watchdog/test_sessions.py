"""Which session, run and turn spans belong to, in any order and however they are put together."""

from otel_watchdog import (
    ModelTurn,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
)
from tests.otel_watchdog.span_cases import AGENT, MODEL, TOOL, Trace, tool


def test_a_run_that_only_wraps_another_never_appears():
    """Of an agent around an agent, the one that has the model calls is the run."""
    trace = Trace()
    trace.open("outer", AGENT | {"gen_ai.agent.name": "outer"})
    trace.open("inner", AGENT, "outer")

    told = trace.add("chat", MODEL, "inner") + trace.close("inner") + trace.close("outer")

    assert [type(o) for o in told] == [RunStarted, ModelTurn, RunEnded]
    assert told[0].agent == "fixer"


def test_agents_of_one_trace_share_what_the_conversation_is():
    """The trace, where the spans name no conversation; else that."""
    trace = Trace()
    told = []
    for name, conversation in (("ada", None), ("ben", None), ("cid", "c1"), ("dan", "c1")):
        named = {"gen_ai.conversation.id": conversation} if conversation else {}
        trace.open(name, AGENT | named | {"gen_ai.agent.name": name})
        told += trace.add(f"chat of {name}", MODEL, name)

    started = [o for o in told if type(o) is RunStarted]
    assert [o.agent for o in started] == ["ada", "ben", "cid", "dan"]
    assert len({o.session for o in started}) == 4
    assert [o.conversation for o in started] == [f"{1:032x}"] * 2 + ["c1"] * 2


def test_an_agent_inside_anothers_run_is_of_its_conversation():
    """Some frameworks give each run an id of its own; agents beside each other are apart."""
    trace = Trace()
    outer, inner, beside = (
        AGENT | {"gen_ai.agent.name": name, "gen_ai.conversation.id": f"of {name}"}
        for name in ("outer", "inner", "beside")
    )
    trace.open("outer", outer)
    told = trace.add("first", MODEL, "outer")
    trace.open("inner", inner, "outer")
    told += trace.add("second", MODEL, "inner")
    trace.open("beside", beside)
    told += trace.add("third", MODEL, "beside")

    started = [o for o in told if type(o) is RunStarted]
    assert [o.agent for o in started] == ["outer", "inner", "beside"]
    assert [o.conversation for o in started] == ["of outer", "of outer", "of beside"]


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
