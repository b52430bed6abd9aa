"""Puts corrections before a LangChain agent, and ends a run whose turn cap is reached.

    agent = create_agent("openai:gpt-5", tools, middleware=[WatchdogMiddleware()])

Needs LangChain 1 (extra `langchain`) and a tracer such as OpenInference's LangChainInstrumentor.
"""

import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.config import get_config
from opentelemetry import trace

from otel_watchdog.delivery import Delivery, Turn, is_ours
from otel_watchdog.processor import WatchdogSpanProcessor


class WatchdogState(AgentState[Any]):
    """What the middleware keeps in the graph's state."""

    watchdog_run: NotRequired[Annotated[str, UntrackedValue, PrivateStateAttr]]  # type: ignore[valid-type] # else a TypedDict
    """The run, new at each start of the agent."""


class WatchdogMiddleware(AgentMiddleware[Any, Any, Any]):
    """Takes an agent's corrections before each model call and adds them as user messages.

    They come after all results of the turn before and stay in the state and its checkpoints. In
    mode `enforce` the agent raises `AgentHalted` before the first call past its turn cap; the
    state stays resumable. Each turn takes one more step of the graph: mind `recursion_limit`.
    Give a sub-agent a name and a middleware of its own.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.
    """

    state_schema = WatchdogState

    def __init__(
        self, watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
    ) -> None:
        super().__init__()
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:  # noqa: ARG002 - the hook's
        """Begin to count the turns of a run."""
        return {"watchdog_run": uuid.uuid4().hex}

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - the hook's
        """Add what waits, or end the run."""
        turn = self._begin(state)
        turn.check()
        texts = turn.texts(lambda text: _stands(text, state["messages"]))
        return {"messages": [HumanMessage(text) for text in texts]} if texts else None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Any:
        """Acknowledge what the call went out with, or give it back."""
        run = request.state.get("watchdog_run")
        try:
            response = handler(request)
        except BaseException:
            self._delivery.settle(run, sent=False)
            raise
        self._delivery.settle(run)
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Any:
        """As `wrap_model_call`."""
        run = request.state.get("watchdog_run")
        try:
            response = await handler(request)
        except BaseException:
            self._delivery.settle(run, sent=False)
            raise
        self._delivery.settle(run)
        return response

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Refuse a tool that was withdrawn."""
        return self._refused(request) or handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_tool_call`."""
        return self._refused(request) or await handler(request)

    def _begin(self, state: Any) -> Turn:
        metadata = get_config().get("metadata", {})
        thread = metadata.get("thread_id")
        return self._delivery.begin(
            state.get("watchdog_run"),
            conversation=str(thread) if thread is not None else None,
            agent=metadata.get("lc_agent_name"),
            span=_span(),
        )

    def _refused(self, request: Any) -> "ToolMessage | None":
        call = request.tool_call
        refusal = self._delivery.refusal(request.state.get("watchdog_run"), call["name"])
        if refusal is None:
            return None
        return ToolMessage(refusal, name=call["name"], tool_call_id=call["id"], status="error")


def _span() -> trace.Span | None:
    """Return the span of this step: the instrumentor does not make it the current one."""
    try:
        from openinference.instrumentation.langchain import (  # noqa: PLC0415 - may be missing
            get_current_span,
        )
    except ImportError:
        return None
    span: trace.Span | None = get_current_span()
    return span


def _stands(text: str, messages: list[Any]) -> bool:
    """Say whether a failed run has left `text` where the model will read it next."""
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return False
        if isinstance(message, HumanMessage) and is_ours(text) and message.content == text:
            return True
    return False
