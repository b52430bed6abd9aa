"""What dialects and sessions make of real packages' spans, against what really happened.

Each recording in `tests/recordings` was made with a real package and a scripted model; beside it
lies the truth, written by the script. Versions are in it. Where log records were recorded too,
`<name>+logs` is both together, and `<name>` the spans alone.
"""

import orjson
import pytest

from otel_watchdog import ModelTurn, RunEnded, RunStarted, ToolCall, ToolOutcome, ToolResult
from otel_watchdog.reading.content import parsed
from tests.otel_watchdog.dialects.gaps import (
    ESTIMATED,
    NOT_IN_SPANS,
    NOTHING,
    TOLD_AS_THEY_END,
    WRONG_AT_SOURCE,
)
from tests.otel_watchdog.dialects.recorded import (
    AT_START,
    CLOSING_TOOLS,
    NAMES,
    UUID,
    load,
    replayed,
)


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
