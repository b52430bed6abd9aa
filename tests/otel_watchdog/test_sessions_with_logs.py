"""Log records join the spans of their session: turns, arguments and results that only they carry."""

from otel_watchdog import (
    ModelTurn,
    RunStarted,
    ToolCall,
    ToolResult,
)
from otel_watchdog.spans import LogRecord
from tests.otel_watchdog.span_cases import MODEL, Trace


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
