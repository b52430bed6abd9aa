"""Reads spans that follow Arize's OpenInference conventions."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import orjson

from otel_watchdog import semconv
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import first_of, string
from otel_watchdog.reading.histories import (
    FlatHistory,
    History,
    answer_in,
    flat_messages,
    history_in,
)
from otel_watchdog.reading.messages import Layout
from otel_watchdog.reading.wrappings import Request, answer_of, request_of
from otel_watchdog.spans import (
    ModelReading,
    PartReading,
    Reading,
    RunReading,
    Span,
    ToolReading,
    failure_of,
    model_reading,
    tool_reading,
)

_LAYOUT: Final = Layout(
    message=".message",
    call=".tool_call",
    function=".tool_call.function",
    block=".message_content",
)
_PREPARATION: Final = "._prepare_chat_with_tools"
"""LlamaIndex has an LLM span for it, before the one of the call itself."""
_AGENT_NAME: Final = "invoke_agent "
"""With Google ADK 2 each model call's attributes are written onto the agent's span."""
_HANDOFF: Final = "handoff"
_AGENT_ENDINGS: Final = (".run", "._execute_core")
_NAMED: Final = ".openai_agents"
"""The scope whose agents' spans are called as the agent; the root is called as the workflow."""
_IN_REPRS: Final = ".haystack"
"""The scope whose flattened messages lack results and ids; as a whole they are there."""
_SCHEMA_SIGNS: Final = ('"properties"', '"type"', '"anyOf"')


class OpenInference:
    """The `openinference.span.kind` attribute and what goes with it.

    Who: the `openinference-instrumentation-*` packages, for some thirty frameworks and clients.

    LangChain's tools of one argument are recorded with the bare value, and no framework but
    Agent Framework and the Claude Agent SDK records call ids on tool spans: both come from the
    model's answer. A LangGraph agent is a CHAIN that is called what its metadata call the agent.
    """

    name: ClassVar[str] = "openinference"
    scopes: ClassVar[tuple[str, ...]] = ("openinference.instrumentation",)
    prefixes: ClassVar[tuple[str, ...]] = (semconv.OPENINFERENCE_SPAN_KIND,)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "OPENINFERENCE_HIDE_INPUTS=false",
            "arguments and what the model is given",
        ),
        Switch(
            "OPENINFERENCE_HIDE_OUTPUTS=false",
            "results and what the model answers",
        ),
        Switch(
            "OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true",
            "arguments and results of openai-agents",
            ("openinference.instrumentation.openai_agents",),
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        attributes = span.attributes
        kind = attributes.get(semconv.OPENINFERENCE_SPAN_KIND)
        if kind == "TOOL":
            return _read_tool(span, attributes)
        if kind == "LLM" and not span.name.endswith(_PREPARATION):
            if not span.name.startswith(_AGENT_NAME):
                return _read_model(span, attributes)
            kind = "AGENT"
        if kind is None:
            return None
        agent, session = _agent(attributes), _session(attributes)
        if kind == "AGENT" and not (agent != span.name and _is_graph_node(span)):
            return RunReading(agent or _node(span), session, failure_of(span).text)
        if kind == "CHAIN" and agent == span.name:
            return RunReading(agent, session, failure_of(span).text)
        return PartReading(agent, session, step=_is_step(span.name))


def _is_step(name: str) -> bool:
    """Say whether a span is called as smolagents or openai-agents call one turn."""
    return name == "turn" or (name.startswith("Step ") and name[5:].isdecimal())


def _is_graph_node(span: Span) -> bool:
    """Say whether a span is a node of LangGraph: one called `agent` passes for an agent's run."""
    metadata = span.attributes.get(semconv.METADATA)
    return isinstance(metadata, str) and f'"langgraph_node": "{span.name}"' in metadata


def _read_tool(span: Span, attributes: Mapping[str, Any]) -> ToolReading | PartReading:
    name = string(attributes, semconv.TOOL_NAME)
    if name is None:
        if span.name.startswith(_HANDOFF):
            return PartReading(session=_session(attributes))  # openai-agents: no tool was called
        name = span.name.removesuffix(".__call__")
    given = attributes.get(semconv.INPUT_VALUE)
    return tool_reading(
        span,
        name,
        request_of(given) if given is not None else _parameters(attributes),
        answer_of(attributes.get(semconv.OUTPUT_VALUE)),
        call_id=first_of(attributes, *semconv.TOOL_CALL_IDS, semconv.GEN_AI_TOOL_CALL_ID),
        agent=_agent(attributes),
        session=_session(attributes),
    )


def _parameters(attributes: Mapping[str, Any]) -> Request:
    """Read `tool.parameters`, which hold the arguments or, in some frameworks, their schema."""
    request = request_of(attributes.get(semconv.TOOL_PARAMETERS))
    if request.arguments and any(sign in request.arguments for sign in _SCHEMA_SIGNS):
        return Request()
    return request


def _read_model(span: Span, attributes: Mapping[str, Any]) -> ModelReading:
    if span.scope.endswith(_IN_REPRS):
        output = answer_in(attributes.get(semconv.OUTPUT_VALUE))
        history: History | None = history_in(attributes.get(semconv.INPUT_VALUE))
    else:
        output = flat_messages(attributes, semconv.LLM_OUTPUT_MESSAGES, _LAYOUT)
        history = FlatHistory(attributes, semconv.LLM_INPUT_MESSAGES, _LAYOUT)
    return model_reading(
        span,
        output=output,
        history=history,
        agent=_agent(attributes),
        session=_session(attributes),
    )


def _agent(attributes: Mapping[str, Any]) -> str | None:
    """Return the agent that any span of LangChain names; of others, where they do."""
    metadata = attributes.get(semconv.METADATA)
    if isinstance(metadata, str) and '"lc_agent_name"' in metadata:
        try:
            told = orjson.loads(metadata).get("lc_agent_name")
        except (orjson.JSONDecodeError, AttributeError):
            told = None
        if isinstance(told, str):
            return told
    return string(
        attributes, semconv.AGENT_NAME, semconv.TOOL_AGENT_ROLE, semconv.GEN_AI_AGENT_NAME
    )


def _node(span: Span) -> str | None:
    """Return the agent's name as its own span tells it, in an attribute or in its name."""
    told = string(span.attributes, semconv.GRAPH_NODE_NAME, semconv.GRAPH_NODE_ID)
    if told is not None:
        return told
    for ending in _AGENT_ENDINGS:
        if span.name.endswith(ending):
            return span.name.removesuffix(ending)
    return span.name if span.parent_id is not None and span.scope.endswith(_NAMED) else None


def _session(attributes: Mapping[str, Any]) -> str | None:
    return string(attributes, semconv.SESSION_ID, semconv.GEN_AI_CONVERSATION_ID)
