"""Names that single instrumentations write: read by one dialect each, spelled once.

Those of OpenTelemetry's conventions, those that several dialects read and our own stand in
`semconv`.
"""

from typing import Final

# GenAI messages as events, on spans and as log records.

GEN_AI_DETAILS_EVENT: Final = "gen_ai.client.inference.operation.details"
"""Event that carries a model call's messages as attributes."""

GEN_AI_SYSTEM_EVENT: Final = "gen_ai.system.message"
"""Event of one message, of the conventions up to 1.36; so the next four."""

GEN_AI_USER_EVENT: Final = "gen_ai.user.message"
GEN_AI_ASSISTANT_EVENT: Final = "gen_ai.assistant.message"
GEN_AI_TOOL_EVENT: Final = "gen_ai.tool.message"
GEN_AI_CHOICE_EVENT: Final = "gen_ai.choice"
"""The model's answer; on a tool's span of Strands, the tool's."""

EVENT_NAME: Final = "event.name"
"""string; a log record's event where its own field says something else, or nothing."""

# Coding agents.

GEMINI_CLI_CALL_ID: Final = "gen_ai.tool.call_id"
"""string; with an underscore. Gemini CLI."""

CONVERSATION_ID: Final = "conversation.id"
"""string; Codex."""

CLAUDE_CODE_TOOL_OUTPUT: Final = "tool.output"
"""Span event of a tool's result; Claude Code."""

CLAUDE_CODE_CALL_ID: Final = "tool_use_id"
CODEX_TOOL_PHASE: Final = "codex.tool.phase"
"""string; `dispatch` on the span of a tool call. Codex."""

PROCESS_EXIT_CODE: Final = "process.exit.code"
"""int; Copilot CLI."""

# Vercel AI SDK, up to version 6 and in the legacy mode of 7.

AI_OPERATION_ID: Final = "ai.operationId"
AI_FUNCTION_ID: Final = "ai.telemetry.functionId"
AI_METADATA: Final = "ai.telemetry.metadata"
AI_TOOL_NAME: Final = "ai.toolCall.name"
AI_TOOL_ID: Final = "ai.toolCall.id"
AI_TOOL_ARGS: Final = "ai.toolCall.args"
AI_TOOL_INPUT: Final = "ai.toolCall.input"
AI_TOOL_RESULT: Final = "ai.toolCall.result"
AI_TOOL_OUTPUT: Final = "ai.toolCall.output"
AI_PROMPT_MESSAGES: Final = "ai.prompt.messages"
AI_RESPONSE_TEXT: Final = "ai.response.text"
AI_RESPONSE_REASONING: Final = "ai.response.reasoning"
AI_RESPONSE_TOOL_CALLS: Final = "ai.response.toolCalls"

# Haystack.

HAYSTACK_TOOL_NAME: Final = "haystack.tool.name"
HAYSTACK_TOOL_ERROR: Final = "haystack.tool.error"
HAYSTACK_TOOL_INPUT: Final = "haystack.agent.step.tool.input"
HAYSTACK_TOOL_OUTPUT: Final = "haystack.agent.step.tool.output"
HAYSTACK_LLM_INPUT: Final = "haystack.agent.step.llm.input"
HAYSTACK_LLM_OUTPUT: Final = "haystack.agent.step.llm.output"
HAYSTACK_COMPONENT_TYPE: Final = "haystack.component.type"
HAYSTACK_COMPONENT_INPUT: Final = "haystack.component.input"
HAYSTACK_COMPONENT_OUTPUT: Final = "haystack.component.output"

# MLflow: every value is JSON.

MLFLOW_SPAN_TYPE: Final = "mlflow.spanType"
MLFLOW_SPAN_INPUTS: Final = "mlflow.spanInputs"
MLFLOW_SPAN_OUTPUTS: Final = "mlflow.spanOutputs"
MLFLOW_FUNCTION_NAME: Final = "mlflow.spanFunctionName"
MLFLOW_MODEL: Final = "mlflow.llm.model"
MLFLOW_CALL_ID: Final = "tool_call_id"
MLFLOW_METADATA: Final = "metadata"
MLFLOW_TOKENS: Final = "mlflow.chat.tokenUsage"

# LangSmith.

LANGSMITH_KIND: Final = "langsmith.span.kind"
LANGSMITH_METADATA: Final = "langsmith.metadata"

# LiteLLM.

LITELLM_CALL_ID: Final = "litellm.call_id"
"""string; also on the span that was current when a model was called, which is not LiteLLM's."""

LITELLM_PROVIDER_MODEL: Final = "litellm.provider.model"

# Google ADK 1.

ADK_REQUEST: Final = "gcp.vertex.agent.llm_request"
ADK_RESPONSE: Final = "gcp.vertex.agent.llm_response"

# OpenLLMetry.

TRACELOOP_TOOL_ARGUMENTS: Final = "tool.arguments"
"""JSON string; on LlamaIndex's tasks that call a tool."""
