"""Every attribute, span, event, scope and metric name that is read or written, spelled once.

Read names follow OpenTelemetry's GenAI conventions and the instrumentations named beside them;
written ones start with `watchdog.` or are another tool's, so that it shows our spans well.
"""

from typing import Final

SCOPE: Final = "otel_watchdog"
"""Our own instrumentation scope; its spans are never read."""

# OpenTelemetry GenAI conventions, current and older spellings.

GEN_AI_OPERATION_NAME: Final = "gen_ai.operation.name"
"""string; `execute_tool`, `chat`, `invoke_agent`. Read."""

GEN_AI_AGENT_NAME: Final = "gen_ai.agent.name"
"""string; the agent's name. Read, and copied onto correction spans."""

GEN_AI_AGENT_ID: Final = "gen_ai.agent.id"
"""string; id of a hosted agent. Read, and copied."""

GEN_AI_CONVERSATION_ID: Final = "gen_ai.conversation.id"
"""string; id of the conversation: the session. Read, and copied."""

GEN_AI_TOOL_NAME: Final = "gen_ai.tool.name"
"""string; name of the tool called. Read."""

GEN_AI_TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
"""string; pairs a call with its result. Read."""

GEN_AI_TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
"""JSON string; may hold private data. Read, never copied onto our spans."""

GEN_AI_TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"
"""JSON or text; may hold private data. Read."""

GEN_AI_TOOL_STATUS: Final = "gen_ai.tool.status"
"""string; `error` where a tool failed (Strands). Read."""

GEN_AI_INPUT_MESSAGES: Final = "gen_ai.input.messages"
"""JSON string; the whole conversation given to the model. Read as far as it is new."""

GEN_AI_OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
"""JSON string; the model's answer. Read."""

GEN_AI_REQUEST_MODEL: Final = "gen_ai.request.model"
"""string. Read."""

GEN_AI_PROVIDER_NAME: Final = "gen_ai.provider.name"
"""string; `openai`, `anthropic`. Read."""

GEN_AI_SYSTEM: Final = "gen_ai.system"
"""string; older spelling of the provider's name. Read."""

GEN_AI_RESPONSE_MODEL: Final = "gen_ai.response.model"
"""string. Read."""

GEN_AI_USAGE_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
"""int. Read."""

GEN_AI_USAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
"""int. Read."""

GEN_AI_USAGE_PROMPT_TOKENS: Final = "gen_ai.usage.prompt_tokens"
"""int; older spelling of input tokens. Read."""

GEN_AI_USAGE_COMPLETION_TOKENS: Final = "gen_ai.usage.completion_tokens"
"""int; older spelling of output tokens. Read."""

TOOL_ARGUMENTS: Final = "tool_arguments"
"""JSON string; arguments in pydantic-ai's formats before version 3. Read."""

TOOL_RESPONSE: Final = "tool_response"
"""string; result in pydantic-ai's formats before version 3. Read."""

LLM_MODEL_NAME: Final = "llm.model_name"
"""string; OpenInference. Read."""

LLM_TOKEN_COUNT_PROMPT: Final = "llm.token_count.prompt"  # noqa: S105 - tokens of a model
"""int; OpenInference. Read."""

LLM_TOKEN_COUNT_COMPLETION: Final = "llm.token_count.completion"  # noqa: S105 - as above
"""int; OpenInference. Read."""

LLM_INPUT_MESSAGES: Final = "llm.input_messages"
"""Prefix of the conversation given to the model, flattened; OpenInference. Read."""

LLM_OUTPUT_MESSAGES: Final = "llm.output_messages"
"""Prefix of the model's answer, flattened; OpenInference. Read."""

TOOL_NAME: Final = "tool.name"
"""string; OpenInference. Read."""

TOOL_PARAMETERS: Final = "tool.parameters"
"""JSON string; in OpenInference the arguments, or the tool's schema. Read with care."""

TOOL_CALL_IDS: Final = ("tool.id", "tool.call_id", "tool_call.id")
"""string; spellings of the call's id in OpenInference. Read."""

TOOL_AGENT_ROLE: Final = "tool.agent_role"
"""string; the agent in CrewAI's OpenInference spans. Read."""

AGENT_NAME: Final = "agent.name"
"""string; OpenInference. Read."""

GRAPH_NODE_NAME: Final = "graph.node.name"
"""string; the agent, in OpenInference. Read."""

GRAPH_NODE_ID: Final = "graph.node.id"
"""string; the agent, in OpenInference. Read."""

METADATA: Final = "metadata"
"""JSON string; OpenInference. Read for LangChain's `lc_agent_name`."""

TRACELOOP_SPAN_KIND: Final = "traceloop.span.kind"
"""string; `tool`, `agent`, `workflow`, `task`. Read."""

TRACELOOP_ENTITY_NAME: Final = "traceloop.entity.name"
"""string; name of what the span is about. Read."""

TRACELOOP_ENTITY_PATH: Final = "traceloop.entity.path"
"""string; set on spans inside a workflow. Read."""

TRACELOOP_ENTITY_INPUT: Final = "traceloop.entity.input"
"""JSON string. Read."""

TRACELOOP_ENTITY_OUTPUT: Final = "traceloop.entity.output"
"""JSON string. Read."""

TRACELOOP_PROPERTIES: Final = "traceloop.association.properties"
"""Prefix of properties that all spans of a run share; `….session_id` and others. Read."""

LLM_REQUEST_TYPE: Final = "llm.request.type"
"""string; `chat` or `completion`, in Traceloop's older spans. Read."""

GEN_AI_PROMPT: Final = "gen_ai.prompt"
"""Prefix of the conversation given to the model, flattened; Traceloop's older spans. Read."""

GEN_AI_COMPLETION: Final = "gen_ai.completion"
"""Prefix of the model's answer, flattened; Traceloop's older spans. Read."""

GEN_AI_TASK_STATUS: Final = "gen_ai.task.status"
"""string; `failure` where a tool failed, in Traceloop's LangChain spans. Read."""

ADK_TOOL_CALL_ARGS: Final = "gcp.vertex.agent.tool_call_args"
"""JSON string; arguments in Google ADK before version 2. Read."""

ADK_TOOL_RESPONSE: Final = "gcp.vertex.agent.tool_response"
"""JSON string; result in Google ADK before version 2. Read."""

ADK_SESSION_ID: Final = "gcp.vertex.agent.session_id"
"""string; Google ADK before version 2. Read."""

LANGFUSE_MODEL_NAME: Final = "langfuse.observation.model.name"
"""string. Read."""

ERROR_TYPE: Final = "error.type"
"""string; class of the failure. Read."""

EXCEPTION_EVENT: Final = "exception"
"""Span event of a raised exception. Read."""

EXCEPTION_MESSAGE: Final = "exception.message"
"""string, on the exception event. Read."""

SESSION_ID: Final = "session.id"
"""string. Read, and copied."""

USER_ID: Final = "user.id"
"""string. Copied onto correction spans."""

# Written: correction spans.

WATCHDOG_DETECTOR_NAME: Final = "watchdog.detector.name"
"""string; `name` of the detector that fired."""

WATCHDOG_TIER: Final = "watchdog.tier"
"""int, 1 to 5."""

WATCHDOG_TIER_NAME: Final = "watchdog.tier.name"
"""string; `nudge`, `redirect`, `force-wrap`, `hard-stop`, `terminate`."""

WATCHDOG_TURN: Final = "watchdog.turn"
"""int; the turn that was judged, counted from 1 in the run."""

WATCHDOG_KIND: Final = "watchdog.kind"
"""string; family of the pattern, such as `loop` or `cycle`."""

WATCHDOG_SEVERITY: Final = "watchdog.severity"
"""string; `warn` or `critical`."""

WATCHDOG_MODE: Final = "watchdog.mode"
"""string; `observe`, `feedback` or `enforce`."""

WATCHDOG_SESSION: Final = "watchdog.session"
"""string; key of the session that was judged."""

WATCHDOG_MAX_TURNS: Final = "watchdog.max_turns"
"""int; absolute turn after which the run is to end."""

WATCHDOG_CORRECTION_ID: Final = "watchdog.correction.id"
"""string; unique id of the correction."""

WATCHDOG_CORRECTION_N: Final = "watchdog.correction.n"
"""int; which correction of the run this is, counted from 1."""

WATCHDOG_PROMPT_NAME: Final = "watchdog.prompt.name"
"""string; the prompt that words the message, where texts are kept outside of this package."""

WATCHDOG_PROMPT_VERSION: Final = "watchdog.prompt.version"
"""int; version of that prompt."""

WATCHDOG_CATEGORY: Final = "watchdog.category"
"""string; the agent's category, which decides its floor of turns. Read from an agent's spans, too,
where it assigns one."""

WATCHDOG_CATEGORY_FROM: Final = "watchdog.category.from"
"""string; `attribute`, `agent`, `inferred` or `default`."""

# Written: outcome spans, linked to the correction that they are about.

WATCHDOG_OUTCOME: Final = "watchdog.outcome"
"""string; `heeded`, `ignored`, `relapsed` or `unknown`. On metrics, too."""

EVALUATION_HEEDED: Final = "watchdog.heeded"
"""Value of `gen_ai.evaluation.name` on outcome spans."""

WATCHDOG_TURNS_TO_HEED: Final = "watchdog.turns_to_heed"
"""int; turns from the first that held the message to the first that brought something else."""

WATCHDOG_SUPPRESSED: Final = "watchdog.suppressed"
"""string; why a finding led to no correction of its own: `cap`, `refractory`, `unclaimed`, `floor`,
`merged`, `exempt` or `delegated`. On `METRIC_SUPPRESSED`."""

# Written: so that review tools show a correction as what it is.

LANGFUSE_OBSERVATION_TYPE: Final = "langfuse.observation.type"
"""string; `guardrail` on correction spans, lower case. Read too."""

LANGFUSE_OBSERVATION_LEVEL: Final = "langfuse.observation.level"
"""string; DEFAULT, WARNING or ERROR. Read too."""

LANGFUSE_OBSERVATION_STATUS_MESSAGE: Final = "langfuse.observation.status_message"
"""string; which detector fired, how often and what tier. Read too."""

LANGFUSE_OBSERVATION_INPUT: Final = "langfuse.observation.input"
"""JSON string; what fired, with its evidence. Read too."""

LANGFUSE_OBSERVATION_OUTPUT: Final = "langfuse.observation.output"
"""string; the exact message for the agent. Read too."""

LANGFUSE_OBSERVATION_METADATA: Final = "langfuse.observation.metadata"
"""Prefix of filterable metadata; `….watchdog.tier` and others, raw scalars."""

LANGFUSE_SESSION_ID: Final = "langfuse.session.id"
"""string. Copied."""

LANGFUSE_USER_ID: Final = "langfuse.user.id"
"""string. Copied."""

LANGFUSE_TRACE_NAME: Final = "langfuse.trace.name"
"""string. Copied."""

LANGFUSE_TRACE_TAGS: Final = "langfuse.trace.tags"
"""list of strings. Copied whole, never added to."""

LANGFUSE_ENVIRONMENT: Final = "langfuse.environment"
"""string. Copied."""

LANGFUSE_RELEASE: Final = "langfuse.release"
"""string. Copied."""

LANGFUSE_VERSION: Final = "langfuse.version"
"""string. Copied."""

LANGFUSE_IS_APP_ROOT: Final = "langfuse.internal.is_app_root"
"""bool; set by Langfuse's SDK on a span it takes for a root. Set to false on ours."""

OPENINFERENCE_SPAN_KIND: Final = "openinference.span.kind"
"""string; `GUARDRAIL` on correction spans. Read too."""

INPUT_VALUE: Final = "input.value"
"""string; as `langfuse.observation.input`, for OpenInference readers. Read too."""

INPUT_MIME_TYPE: Final = "input.mime_type"
"""string; `application/json`."""

OUTPUT_VALUE: Final = "output.value"
"""string; as `langfuse.observation.output`, for OpenInference readers. Read too."""

OUTPUT_MIME_TYPE: Final = "output.mime_type"
"""string; `text/plain`."""

GEN_AI_EVALUATION_NAME: Final = "gen_ai.evaluation.name"
"""string; `watchdog.<detector>`. Also keeps the span through Langfuse's export filter."""

GEN_AI_EVALUATION_SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
"""string; the tier's word."""

GEN_AI_EVALUATION_SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
"""double; on outcome spans, 1 if the correction was heeded and 0 if it was not."""

GEN_AI_EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
"""string; the finding's reason."""

COPIED: Final = (
    SESSION_ID,
    USER_ID,
    GEN_AI_CONVERSATION_ID,
    GEN_AI_AGENT_NAME,
    GEN_AI_AGENT_ID,
    LANGFUSE_SESSION_ID,
    LANGFUSE_USER_ID,
    LANGFUSE_TRACE_NAME,
    LANGFUSE_TRACE_TAGS,
    LANGFUSE_ENVIRONMENT,
    LANGFUSE_RELEASE,
    LANGFUSE_VERSION,
)
"""Taken over from the judged span or one around it, so that a correction is found where it is."""

COPIED_PREFIXES: Final = ("langfuse.trace.metadata.", "traceloop.association.properties.")
"""As `COPIED`, for what all spans of a trace or run carry under names of the program's choice."""

SESSIONS: Final = (LANGFUSE_SESSION_ID, SESSION_ID, GEN_AI_CONVERSATION_ID)
"""Where review tools look for a span's session; the first one wins."""

# Written and read: scores in review tools.

SCORE_DETECTOR: Final = "watchdog.detector"
"""categorical, on a correction; the detector's name. `….-observed`, too."""

SCORE_MAX_TIER: Final = "watchdog.max_tier"
"""numeric, on a trace; the highest tier so far, 1 to 5."""

SCORE_CORRECTIONS: Final = "watchdog.corrections"
"""numeric, on a trace; how many corrections so far."""

SCORE_FALSE_ALARM: Final = "watchdog.false_alarm"
"""boolean, on a correction, by people or an evaluator; whether it was not called for. Read."""

# Written: feedback events and metrics.

CODE_NAMESPACE: Final = "code.namespace"
"""string; which part of ours failed, on `METRIC_INTERNAL_ERRORS`."""

APPROVAL_EVENT: Final = "watchdog.approval"
"""Log record of each step of a question to a person; body: the finding's reason."""

WATCHDOG_APPROVAL_STEP: Final = "watchdog.approval.step"
"""string; `asked`, `continue`, `stop`, `allow`, `used` or `unanswered`."""

WATCHDOG_APPROVAL_SCOPE: Final = "watchdog.approval.scope"
"""string; `call`, `tool` or `session`: what was allowed."""

WATCHDOG_APPROVAL_MAX_TIMES: Final = "watchdog.approval.max_times"
"""int; how often it was allowed."""

WATCHDOG_APPROVAL_SECONDS: Final = "watchdog.approval.seconds"
"""float; how long it was allowed."""

WATCHDOG_APPROVAL_BY: Final = "watchdog.approval.by"
"""string; who answered, as the program says."""

FEEDBACK_EVENT: Final = "watchdog.feedback"
"""Log record, and event on the correction span, when it is sent to its agent; body: the message."""

METRIC_CORRECTIONS: Final = "otel_watchdog.corrections"
"""Counter, `{correction}`; by tier, detector, agent and mode."""

METRIC_FINDINGS: Final = "otel_watchdog.findings"
"""Counter, `{finding}`; by detector and severity."""

METRIC_OUTCOMES: Final = "otel_watchdog.outcomes"
"""Counter, `{outcome}`; by outcome, tier, detector and agent."""

METRIC_TURNS_TO_HEED: Final = "otel_watchdog.turns_to_heed"
"""Histogram, `{turn}`; by tier, detector and agent."""

METRIC_SUPPRESSED: Final = "otel_watchdog.suppressed"
"""Counter, `{finding}`; by reason and detector."""

METRIC_INTERNAL_ERRORS: Final = "otel_watchdog.internal_errors"
"""Counter, `{error}`; failures of ours that were kept from the traced program, by place."""

# Written and read: heartbeats of the in-process part, as log records.

HEARTBEAT_EVENT: Final = "watchdog.heartbeat"
"""Log record that tells of the spans which are still open."""

HEARTBEAT_OPEN_SPANS: Final = "watchdog.open_spans"
"""int; spans of agents that are open."""

HEARTBEAT_OLDEST_OPEN_SECONDS: Final = "watchdog.oldest_open_seconds"
"""double; age of the oldest of them."""

HEARTBEAT_IDLE_SECONDS: Final = "watchdog.idle_seconds"
"""double; time since a span of an agent last began or ended."""

HEARTBEAT_NAMES: Final = "watchdog.open_span.names"
"""list of strings; names of open spans, the newest last, 32 at most."""

HEARTBEAT_AGES: Final = "watchdog.open_span.ages"
"""list of doubles; seconds for which each of them has been open."""

HEARTBEAT_UPTIME_SECONDS: Final = "watchdog.uptime_seconds"
"""double; time since the process's watchdog was made."""

HEARTBEAT_STOPPING: Final = "watchdog.stopping"
"""bool; whether it is the last, because the process ends as it should."""

HEARTBEAT_QUEUED: Final = "watchdog.queued"
"""int; work that waits for the agent, where the program says. Read."""

HEARTBEAT_IDLE_REASON: Final = "watchdog.idle_reason"
"""string; why the agent rightly does nothing, where the program says. Read."""
