"""Recordings with their truth, replayed as if their spans began and ended now."""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

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
