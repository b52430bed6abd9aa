"""What dialects and sessions make of real packages' spans, against what really happened.

Each recording in `tests/recordings` was made with a real package and a scripted model; beside it
lies the truth, written by the script. Versions are in it. Where log records were recorded too,
`<name>+logs` is both together, and `<name>` the spans alone.
"""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from otel_watchdog import ModelTurn, RunEnded, RunStarted, ToolCall, ToolOutcome, ToolResult
from otel_watchdog.content import parsed
from otel_watchdog.otlp import in_order, logs_of, spans_of
from otel_watchdog.scopes import Scopes
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import LogRecord

RECORDINGS = Path(__file__).parents[2] / "recordings"
STEMS = {path.name.removesuffix(".json.gz") for path in RECORDINGS.glob("*.json.gz")}
LOGS = ".logs"
NAMES = sorted(stem.replace(LOGS, "+logs") for stem in STEMS)

GEN_AI_AT_START = (
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "gen_ai.agent.name",
    "gen_ai.request.model",
    "traceloop.span.kind",
)
AT_START = {
    "agno__genai": GEN_AI_AT_START,
    "agno__traceloop": (),
    "autogen__native": GEN_AI_AT_START,
    "client_litellm": ("session.id",),
    "client_": (*GEN_AI_AT_START, "openinference.span.kind", "llm.request.type", "session.id"),
    "crewai__openinference": ("openinference.span.kind",),
    "dspy__genai": GEN_AI_AT_START,
    "haystack__": (),
    "dspy__openinference": ("openinference.span.kind",),
    "google_adk__": (),
    "langchain__genai": tuple(key for key in GEN_AI_AT_START if key != "gen_ai.tool.call.id"),
    "langchain__langfuse": (),
    "langchain__langsmith": (),
    "langchain__openinference": (),
    "langchain__traceloop": (),
    "langfuse__observe": (),
    "llama_index__genai": GEN_AI_AT_START,
    "llama_index__openinference": (),
    "llama_index__traceloop": (),
    "mlflow__": (),
    "multi_google_adk": (),
    "multi_langchain__genai": GEN_AI_AT_START,
    "multi_langchain__openinference": (),
    "multi_openai_agents__openinference": ("openinference.span.kind",),
    "openai_agents__genai": GEN_AI_AT_START,
    "openai_agents__openinference": ("openinference.span.kind",),
    "openai_agents__traceloop": GEN_AI_AT_START,
    "semantic_kernel__": GEN_AI_AT_START,
    "strands__": (),
}
"""What a span of these recordings shows while it is open; of others, all of its attributes."""

NO_CONTENT = "not in the spans: content capture is off"
NO_CONTENT_ERRORS = "not in the spans: content capture is off, and the status has no text"
NO_TOOL_SPANS = "not in the spans: without content and tool spans nothing tells of a call"
NO_AGENT = "not in the spans: the loop is the application's own"
NO_IDS = "not in the spans: tool spans have no call id and no model span tells of one"
NO_MODEL_SPANS = "not in the spans: no model spans; calls that do not overlap seem to be turns"
NO_LAST_TURN = "not in the spans: no model spans; the last turn calls no tool"
NO_SESSION = "not in the spans: the group id given to the SDK is dropped"
REDACTED = "not in the spans: openai-agents redacts the text of an exception"

CONTENT_OFF = {"arguments": NO_CONTENT, "outcomes": NO_CONTENT, "results": NO_CONTENT}
NO_CALLS = dict.fromkeys(
    ("names", "arguments", "outcomes", "results", "call turns", "call ids", "errors"),
    NO_TOOL_SPANS,
)
CLIENT = {"agent": NO_AGENT}
NO_RESULTS = "not in the spans: this instrumentation records neither results nor their ids"
NO_NAME = "not in the spans: this instrumentation does not record the agent's name"
NO_CONVERSATION = "not in the spans: this instrumentation does not record the session"
SCRUBBED = "not in the spans: Logfire scrubs texts on credentials, openai-agents redacts exceptions"
MILLISECONDS = "not in the spans: begins are in whole milliseconds; what overlaps may be a turn off"
LOSSY = "not in the log records: lists of mixed types are lost in them"
NO_ARGUMENTS_LOGGED = "not in the log records: `OTEL_LOG_TOOL_DETAILS` is off"
ONLY_IN_LOGS = "not in the spans: only log records have it"

NOT_IN_SPANS = {
    "agent_framework__native_nocontent": CONTENT_OFF | {"errors": NO_CONTENT_ERRORS},
    "agno__genai": {"call turns": NO_MODEL_SPANS},
    "agno__traceloop": {
        "call turns": NO_MODEL_SPANS,
        "call ids": NO_IDS,
        "session": "not in the spans: this instrumentation does not record it",
    },
    "autogen__native": CONTENT_OFF | {"errors": NO_CONTENT, "turns": NO_LAST_TURN},
    "client_anthropic__genai": CLIENT,
    "client_anthropic__openinference": CLIENT,
    "client_anthropic__traceloop": CLIENT,
    "client_anthropic__traceloop_legacy": CLIENT,
    "client_gemini__genai": CLIENT,
    "client_gemini__genai_event": CLIENT | NO_CALLS,
    "client_gemini__genai+logs": CLIENT,
    "client_gemini__genai_event+logs": CLIENT,
    "client_openai_chat__genai_event+logs": CLIENT,
    "client_openai_chat__v2+logs": CLIENT,
    "client_openai_chat__v2_legacy+logs": CLIENT,
    "client_litellm__otel_callback": CLIENT,
    "claude_agent_sdk__openinference": {"turns": NO_LAST_TURN},
    "claude_code__native_content": {"arguments": ONLY_IN_LOGS},
    "claude_code__native_default": {"arguments": ONLY_IN_LOGS},
    "claude_code__native_default+logs": {"arguments": NO_ARGUMENTS_LOGGED},
    "codex__native": {"arguments": ONLY_IN_LOGS, "outcomes": ONLY_IN_LOGS},
    "client_gemini__openinference": CLIENT
    | {"call ids": "not in the spans: the model's answer has none, only the next input"},
    "client_openai_chat__genai": CLIENT,
    "client_openai_chat__genai_event": CLIENT | NO_CALLS,
    "client_openai_chat__genai_nocontent": CLIENT | NO_CALLS,
    "client_openai_chat__openinference": CLIENT,
    "client_openai_chat__openinference_long": CLIENT,
    "client_openai_chat__traceloop": CLIENT,
    "client_openai_chat__traceloop_legacy": CLIENT,
    "client_openai_chat__v2": CLIENT | NO_CALLS,
    "client_openai_chat__v2_latest": CLIENT,
    "client_openai_chat__v2_legacy": CLIENT | NO_CALLS,
    "client_openai_chat_stream__genai": CLIENT,
    "client_openai_chat_stream__openinference": CLIENT,
    "client_openai_responses__genai": CLIENT,
    "client_openai_responses__openinference": CLIENT,
    "client_openai_responses__traceloop": CLIENT,
    "client_openai_responses__traceloop_legacy": CLIENT
    | dict.fromkeys(
        ("outcomes", "results", "errors"),
        "not in the spans: tool messages are left out of the recorded input",
    ),
    "client_openai_responses_chain__genai": CLIENT,
    "client_openai_responses_chain__openinference": CLIENT,
    "crewai__openinference": {"call turns": NO_MODEL_SPANS, "call ids": NO_IDS},
    "dspy__genai": {
        "call ids": NO_IDS,
        "turns": NO_LAST_TURN,
    },
    "dspy__openinference": {
        "call ids": NO_IDS,
        "agent": "not in the spans: DSPy's modules have no names of their own",
    },
    "google_adk__crash": CONTENT_OFF
    | {"call ids": "not in the spans: ADK writes `<not specified>` for the call that crashed"},
    "google_adk__crash+logs": CONTENT_OFF
    | {"call ids": "not in the spans: ADK writes `<not specified>` for the call that crashed"},
    "google_adk__openinference": {"turns": NO_LAST_TURN},
    "google_adk__native+logs": CONTENT_OFF | {"errors": NO_CONTENT_ERRORS},
    "google_adk__native_event+logs": {"arguments": LOSSY, "errors": NO_CONTENT_ERRORS},
    "haystack__native": {"agent": NO_NAME},
    "haystack__openinference_v2": {"agent": NO_NAME}
    | dict.fromkeys(("outcomes", "results", "errors", "call ids"), NO_RESULTS),
    "haystack__traceloop_v2": {"agent": NO_NAME} | NO_CALLS,
    "llama_index__traceloop": {"agent": NO_NAME, "turns": NO_LAST_TURN},
    "mlflow__openai": {"session": NO_CONVERSATION},
    "openai_agents__logfire": {"errors": SCRUBBED},
    "openai_agents__logfire_chatapi": {"errors": SCRUBBED},
    "vercel_ai5__native_generate_nocontent": CONTENT_OFF
    | {"errors": NO_CONTENT_ERRORS, "call turns": MILLISECONDS},
    "vercel_ai7__otel_agent": {"session": NO_CONVERSATION},
    "vercel_ai7__otel_stream": {"session": NO_CONVERSATION},
    "google_adk__native": CONTENT_OFF | {"errors": NO_CONTENT_ERRORS},
    "google_adk__native_event": CONTENT_OFF | {"errors": NO_CONTENT_ERRORS},
    "langchain__genai_nocontent": CONTENT_OFF | {"errors": NO_CONTENT},
    "llama_index__genai": {"turns": NO_LAST_TURN},
    "llama_index__openinference": {
        "agent": "not in the spans: this instrumentation does not record it"
    },
    "openai_agents__genai": {"call ids": NO_IDS, "errors": REDACTED, "turns": NO_LAST_TURN},
    "openai_agents__genai_customerr": {"call ids": NO_IDS, "turns": NO_LAST_TURN},
    "openai_agents__genai_event": {"call ids": NO_IDS, "errors": REDACTED, "turns": NO_LAST_TURN},
    "openai_agents__genai_nocontent": CONTENT_OFF
    | {"call ids": NO_IDS, "errors": REDACTED, "turns": NO_LAST_TURN},
    "openai_agents__openinference": {"errors": REDACTED, "session": NO_SESSION},
    "openai_agents__openinference_chatapi": {"errors": REDACTED, "session": NO_SESSION},
    "openai_agents__traceloop": {"errors": REDACTED, "session": NO_SESSION},
    "openai_agents__traceloop_nosensitive": CONTENT_OFF
    | {"call ids": NO_IDS, "errors": REDACTED, "session": NO_SESSION},
    "pydantic_ai__logfire": {"errors": "not in the spans: logfire scrubs texts on credentials"},
    "pydantic_ai__native_nocontent": CONTENT_OFF | {"errors": NO_CONTENT_ERRORS},
    "smolagents__openinference_code": {"call ids": NO_IDS},
}
"""What spans do not carry, by recording and by what is compared: why it stays unknown."""

NOTHING = {
    "crewai__traceloop": "not in the spans: neither tool calls nor model calls have any",
    "smolagents__genai": "not in the spans: the agent's own span is the only one",
    "smolagents__genai_code": "not in the spans: the agent's own span is the only one",
}
"""Recordings that tell of no call and no turn at all."""

WRONG_AT_SOURCE = frozenset({("google_adk__native_event+logs", "arguments")})
"""What was recorded wrong, and cannot be told from right."""

TOLD_AS_THEY_END = {
    "llama_index__traceloop": "not in the spans as they begin: which of them are tool calls",
}
"""Recordings whose parallel calls are told in another order while they happen."""

ESTIMATED = frozenset({"turns", "call turns"})
"""Where the spans do not say it, these are counted and not unknown."""

UNNAMED_AGENTS = {"dspy__genai": "dspy.ReAct"}
"""What instrumentations call an agent that has no name."""

CLOSING_TOOLS = {"dspy__openinference": "finish"}
"""Tools of a framework by which a run ends, and which the truth leaves out."""


UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def load(name):
    """Return the spans of a recording, and the truth."""
    stem, _, logs = name.partition("+")
    spans = [*spans_of(document(stem)), *(logs_of(document(stem + LOGS)) if logs else ())]
    truth = json.loads((RECORDINGS / f"{stem}.expect.json").read_text("utf-8"))
    adjust(stem, truth)
    truth.setdefault("extra_calls", []).append(CLOSING_TOOLS.get(name))
    if "note_turns" in truth:  # DSPy calls one tool a turn, whatever the script asks for
        for turn, call in enumerate(truth["tool_calls"], 1):
            call["turn"] = turn
    if name in UNNAMED_AGENTS:
        truth["agent_name"] = UNNAMED_AGENTS[name]
    return spans, truth


def document(stem):
    """Return the parsed JSON of a recording."""
    with gzip.open(RECORDINGS / f"{stem}.json.gz") as file:
        return json.load(file)


def adjust(stem, truth):
    """Change what the script wrote where the framework does otherwise, and says so."""
    truth["unlisted"] = "result text is the real output" in truth.get("note", "")
    if truth["unlisted"] or stem.startswith("claude_agent_sdk"):
        truth["session_id"] = "its own"
    if stem.startswith("claude_agent_sdk"):
        truth["agent_name"] = None
    if stem.startswith("gemini_cli"):
        truth["agent_name"] = "gemini-cli"
        for call in truth["tool_calls"]:
            call["id"] = f"{call['name']}__{call['id']}"
    if stem == "claude_code__native_content":
        truth["tool_calls"][5]["error_payload"] = True  # it prints {"error": "401 Unauthorized"}


def replayed(spans, at_start=None):
    """Return the sessions and all observations; open spans show all attributes, or these."""
    scopes = Scopes()
    sessions = Sessions(lambda span: scopes.read(scopes[span.scope], span))
    told = []
    for index, opens in in_order(spans):
        span = spans[index]
        if isinstance(span, LogRecord):
            reading = scopes.read_log(span)
            told += sessions.observe_log(span, reading) if reading is not None else []
        elif opens:
            shown = span if at_start is None else opened(span, at_start)
            sessions.open(span.span_id, span.parent_id, shown)
        else:
            reading = scopes.read(scopes[span.scope], span)
            node = sessions.close(span.span_id, span.parent_id)
            told += sessions.observe(node, span, reading)
    return sessions.known(), told


def opened(span, at_start):
    """Return a span as it is when it begins."""
    attributes = {key: value for key, value in span.attributes.items() if key in at_start}
    return replace(span, attributes=attributes, events=(), is_error=None, status_text="", end=None)


def outcome(call, truth):
    """Return how a call of the truth ended; only whether it failed, where no result is listed."""
    if call.get("is_error") or call.get("error_payload"):
        return ToolOutcome.ERROR
    if truth["unlisted"]:
        return ToolOutcome.OK
    return ToolOutcome.EMPTY if call["result"] in ("no matches", None) else ToolOutcome.OK


def normalised(result):
    """Return a result as what it says in JSON, if it says something."""
    value = parsed(result) if isinstance(result, str) else result
    return result if value is None and result != "null" else value


def expected(truth):
    """Return what is to be told, by agent."""
    calls = [call for call in truth["tool_calls"] if call["name"] not in truth["extra_calls"]]
    by_agent = {}
    for agent in truth.get("agents", [truth.get("agent_name")]):
        own = [call for call in calls if call.get("agent", agent) == agent]
        by_agent[agent] = {
            "names": [truth.get("name_prefix", "") + call["name"] for call in own],
            "arguments": [call["args"] for call in own],
            "outcomes": [outcome(call, truth) for call in own],
        }
        if truth["unlisted"]:
            by_agent[agent]["results"] = []
        else:
            by_agent[agent]["results"] = [
                normalised(c["result"]) for c in own if outcome(c, truth) != ToolOutcome.ERROR
            ]
        if "turns" in truth:
            by_agent[agent] |= {
                "errors": [] if truth["unlisted"] else [call["error"] for call in own],
                "call turns": [call["turn"] for call in own],
                "call ids": [call["id"] for call in own],
                "turns": truth["turns"],
                "agent": agent,
                "session": truth["session_id"],
            }
    return by_agent


def told_of(session, told, truth):
    """Return the same of one session's observations."""
    own = [o for o in told if o.session == session.key]
    calls = [o for o in own if type(o) is ToolCall and o.name not in truth["extra_calls"]]
    ended = [result_of(call, own) for call in calls]
    others = [r for r in ended if r is None or r.outcome != ToolOutcome.ERROR]
    outcomes = [result.outcome if result else ToolOutcome.UNKNOWN for result in ended]
    if truth["unlisted"]:
        others = []
        outcomes = [ToolOutcome.OK if o is ToolOutcome.EMPTY else o for o in outcomes]
    session_id = session.conversation
    if truth.get("session_id") == "its own" and session_id and UUID.fullmatch(session_id):
        session_id = "its own"
    return {
        "names": [call.name for call in calls],
        "arguments": [call.arguments and orjson.loads(call.arguments) for call in calls],
        "outcomes": outcomes,
        "results": [result and normalised(result.result) for result in others],
        "errors": [] if truth["unlisted"] else [result and result.error for result in ended],
        "call turns": [call.turn for call in calls],
        # OpenAI's Responses API has two ids for a call; Traceloop records the other one.
        "call ids": [call.call_id and call.call_id.removeprefix("fc_") for call in calls],
        "turns": max((o.turn for o in own if type(o) is ModelTurn), default=0),
        "agent": session.agent,
        "session": session_id,
    }


def result_of(call, told):
    """Return the result of a call: by id, else in order."""
    same = (call.name, call.turn, call.call_id)
    calls = [o for o in told if type(o) is ToolCall and (o.name, o.turn, o.call_id) == same]
    results = [o for o in told if type(o) is ToolResult and (o.name, o.turn, o.call_id) == same]
    index = next(i for i, other in enumerate(calls) if other is call)
    return results[index] if index < len(results) else None


def is_exact(field, actual, wanted):
    """Say whether what was told is what happened."""
    if field != "errors":
        return actual == wanted
    return len(actual) == len(wanted) and all(
        text == error or (text is not None and error is not None and error in text)
        for text, error in zip(actual, wanted, strict=True)
    )


def is_unknown_or_right(field, actual, wanted):
    """Say whether nothing that was told is wrong."""
    if not isinstance(wanted, list):
        return actual is None
    unknown = (None, ToolOutcome.UNKNOWN)
    return all(
        value in unknown or is_exact(field, [value], [wanted[index]])
        for index, value in enumerate(actual)
    )


@pytest.mark.parametrize("open_spans", ["as they will be", "as they begin"])
@pytest.mark.parametrize("name", NAMES)
def test_what_happened_is_told(name, open_spans):
    """Calls, results, outcomes, turns, ids, session and agent are as the truth says, or unknown."""
    spans, truth = load(name)
    at_start = next((keys for start, keys in AT_START.items() if name.startswith(start)), None)
    known_gaps = NOT_IN_SPANS.get(name, {})

    sessions, told = replayed(spans, at_start if open_spans == "as they begin" else None)

    if name in NOTHING:
        assert not told
        return
    by_agent = expected(truth)
    alone = sessions[0].agent if len(sessions) == 1 else None
    agents = {session.agent if len(by_agent) > 1 else alone: session for session in sessions}
    assert len(sessions) == len(by_agent)
    for agent, wanted in by_agent.items():
        actual = told_of(agents[agent if len(by_agent) > 1 else alone], told, truth)
        if name in TOLD_AS_THEY_END and open_spans == "as they begin":
            assert sorted(actual["call ids"]) == wanted["call ids"]
            continue
        for field, value in wanted.items():
            exact = is_exact(field, actual[field], value)
            assert exact != (field in known_gaps), (field, actual[field], value)
            if not exact and field not in ESTIMATED and (name, field) not in WRONG_AT_SOURCE:
                assert is_unknown_or_right(field, actual[field], value), (field, actual[field])


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_told_in_order(name):
    """A run starts once, ends at most once, its turns do not decrease, and ids are told once."""
    spans, _ = load(name)

    _, told = replayed(spans)

    for session in {observation.session for observation in told}:
        own = [observation for observation in told if observation.session == session]
        starts = [o.run for o in own if type(o) is RunStarted]
        ends = [o.run for o in own if type(o) is RunEnded]
        ids = [o.call_id for o in own if type(o) is ToolCall and o.call_id]
        turns = [o.turn for o in own if type(o) in {ModelTurn, ToolCall}]
        assert type(own[0]) is RunStarted
        assert len(set(starts)) == len(starts)
        assert set(ends) <= set(starts)
        assert len(set(ids)) == len(ids)
        assert turns == sorted(turns)


def test_each_gap_is_of_a_recording():
    """The tables name recordings that are there."""
    assert set(NOT_IN_SPANS) | set(CLOSING_TOOLS) | set(NOTHING) <= set(NAMES)
    assert all(any(name.startswith(start) for name in NAMES) for start in AT_START)
