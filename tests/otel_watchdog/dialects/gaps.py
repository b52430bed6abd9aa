"""What recordings do not carry, by name and with the reason; a gap that is closed must leave this table."""

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
    "haystack__openinference_v2": {"agent": NO_NAME},
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
