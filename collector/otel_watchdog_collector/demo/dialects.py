"""How frameworks write a turn as spans: what was recorded of their instrumentations, in short."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from opentelemetry.trace import Span, Status, StatusCode, Tracer

from otel_watchdog import instrumentations as names, semconv
from otel_watchdog_collector.demo.steps import Call, Refused, Say, Step

TOKENS: Final = (900, 60)
"""Of a turn: in, out. They grow as the history does."""

MODEL: Final = "scripted-1"


class Dialect(Protocol):
    """Writes spans as one instrumentation does."""

    def run(self, tracer: Tracer, agent: str, session: str) -> AbstractContextManager[Span]:
        """Begin the span of a run."""
        ...

    def turn(self, tracer: Tracer, agent: str, session: str, number: int, step: Step) -> Span:
        """Write a turn's spans; return the last."""
        ...


class GenAI:
    """The GenAI conventions, as Agent Framework, Strands and others follow them.

    Args:
        provider: Whose model it is.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider

    def run(self, tracer: Tracer, agent: str, session: str) -> AbstractContextManager[Span]:
        """See `Dialect.run`."""
        kept = {**self._who(agent, session), semconv.GEN_AI_OPERATION_NAME: "invoke_agent"}
        return tracer.start_as_current_span(f"invoke_agent {agent}", attributes=kept)

    def turn(self, tracer: Tracer, agent: str, session: str, number: int, step: Step) -> Span:
        """See `Dialect.turn`."""
        who = self._who(agent, session)
        parts: list[dict[str, Any]] = []
        if text := _text(step):
            parts.append({"type": "text", "content": text})
        if isinstance(step, Call):
            call = {"type": "tool_call", "id": f"call_{number}", "name": step.tool}
            parts.append({**call, "arguments": dict(step.arguments)})
        answer = [{"role": "assistant", "parts": parts}]
        model = _write(
            tracer,
            f"chat {MODEL}",
            {
                **who,
                semconv.GEN_AI_OPERATION_NAME: "chat",
                semconv.GEN_AI_REQUEST_MODEL: MODEL,
                semconv.GEN_AI_USAGE_INPUT_TOKENS: TOKENS[0] + 80 * number,
                semconv.GEN_AI_USAGE_OUTPUT_TOKENS: TOKENS[1],
                semconv.GEN_AI_OUTPUT_MESSAGES: json.dumps(answer),
            },
            step,
        )
        if not isinstance(step, Call):
            return model
        return _write(
            tracer,
            f"execute_tool {step.tool}",
            {
                **who,
                semconv.GEN_AI_OPERATION_NAME: "execute_tool",
                semconv.GEN_AI_TOOL_NAME: step.tool,
                semconv.GEN_AI_TOOL_CALL_ID: f"call_{number}",
                semconv.GEN_AI_TOOL_CALL_ARGUMENTS: json.dumps(dict(step.arguments)),
                semconv.GEN_AI_TOOL_CALL_RESULT: step.result,
            },
        )

    def _who(self, agent: str, session: str) -> dict[str, Any]:
        return {
            semconv.GEN_AI_AGENT_NAME: agent,
            semconv.GEN_AI_CONVERSATION_ID: session,
            semconv.GEN_AI_PROVIDER_NAME: self._provider,
        }


class OpenInference:
    """Arize's conventions, as its packages for LangChain, CrewAI and many others follow them."""

    def run(self, tracer: Tracer, agent: str, session: str) -> AbstractContextManager[Span]:
        """See `Dialect.run`."""
        kept = {**self._who(agent, session), semconv.OPENINFERENCE_SPAN_KIND: "AGENT"}
        return tracer.start_as_current_span(agent, attributes=kept)

    def turn(self, tracer: Tracer, agent: str, session: str, number: int, step: Step) -> Span:
        """See `Dialect.turn`."""
        who = self._who(agent, session)
        message = f"{semconv.LLM_OUTPUT_MESSAGES}.0.message"
        answer: dict[str, Any] = {f"{message}.role": "assistant"}
        if text := _text(step):
            answer[f"{message}.content"] = text
        if isinstance(step, Call):
            call = f"{message}.tool_calls.0.tool_call"
            answer[f"{call}.id"] = f"call_{number}"
            answer[f"{call}.function.name"] = step.tool
            answer[f"{call}.function.arguments"] = json.dumps(dict(step.arguments))
        model = _write(
            tracer,
            "ChatModel.invoke",
            {
                **who,
                **(answer if not isinstance(step, Refused) else {}),
                semconv.OPENINFERENCE_SPAN_KIND: "LLM",
                semconv.LLM_MODEL_NAME: MODEL,
                semconv.LLM_TOKEN_COUNT_PROMPT: TOKENS[0] + 80 * number,
                semconv.LLM_TOKEN_COUNT_COMPLETION: TOKENS[1],
            },
            step,
        )
        if not isinstance(step, Call):
            return model
        return _write(
            tracer,
            step.tool,
            {
                **who,
                semconv.OPENINFERENCE_SPAN_KIND: "TOOL",
                semconv.TOOL_NAME: step.tool,
                semconv.INPUT_VALUE: json.dumps(dict(step.arguments)),
                semconv.OUTPUT_VALUE: step.result,
            },
        )

    def _who(self, agent: str, session: str) -> dict[str, Any]:
        return {semconv.AGENT_NAME: agent, semconv.SESSION_ID: session}


class VercelAI:
    """What Vercel's AI SDK writes."""

    def run(self, tracer: Tracer, agent: str, session: str) -> AbstractContextManager[Span]:
        """See `Dialect.run`."""
        kept = {**self._who(agent, session), names.AI_OPERATION_ID: "ai.generateText"}
        return tracer.start_as_current_span("ai.generateText", attributes=kept)

    def turn(self, tracer: Tracer, agent: str, session: str, number: int, step: Step) -> Span:
        """See `Dialect.turn`."""
        who = self._who(agent, session)
        answer: dict[str, Any] = {names.AI_RESPONSE_TEXT: _text(step)}
        if isinstance(step, Call):
            call = {"toolCallId": f"call_{number}", "toolName": step.tool}
            asked = [{**call, "args": json.dumps(dict(step.arguments))}]
            answer[names.AI_RESPONSE_TOOL_CALLS] = json.dumps(asked)
        operation = "ai.generateText.doGenerate"
        model = _write(tracer, operation, {**who, **answer, names.AI_OPERATION_ID: operation}, step)
        if not isinstance(step, Call):
            return model
        return _write(
            tracer,
            "ai.toolCall",
            {
                **who,
                names.AI_OPERATION_ID: "ai.toolCall",
                names.AI_TOOL_NAME: step.tool,
                names.AI_TOOL_ID: f"call_{number}",
                names.AI_TOOL_ARGS: json.dumps(dict(step.arguments)),
                names.AI_TOOL_RESULT: json.dumps(step.result),
            },
        )

    def _who(self, agent: str, session: str) -> dict[str, Any]:
        return {names.AI_FUNCTION_ID: agent, f"{names.AI_METADATA}.sessionId": session}


def _write(
    tracer: Tracer, name: str, attributes: Mapping[str, Any], step: Step | None = None
) -> Span:
    with tracer.start_as_current_span(name, attributes=attributes) as span:
        if isinstance(step, Refused):
            span.set_attribute(semconv.ERROR_TYPE, "AuthenticationError")
            span.set_status(Status(StatusCode.ERROR, step.error))
    return span


def _text(step: Step) -> str:
    if isinstance(step, Say):
        return step.text
    return step.says if isinstance(step, Call) else ""
