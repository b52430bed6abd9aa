"""A node that puts corrections before the model of a hand-made LangGraph agent.

    graph.add_node("watchdog", WatchdogNode(goto="agent"), destinations=("agent", END))
    graph.add_edge("tools", "watchdog")  # instead of tools -> agent

Needs LangGraph 1 (extra `langgraph`) and a tracer such as OpenInference's LangChainInstrumentor.
"""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.config import get_config
from langgraph.types import Command
from opentelemetry import trace

from otel_watchdog.delivery import Delivery, is_ours
from otel_watchdog.processor import WatchdogSpanProcessor


class WatchdogNode:
    """Stands on the edge from the tools to the model; adds an agent's corrections to the messages.

    They stay in the state. In mode `enforce` the node raises `AgentHalted` before the first turn
    past the cap; the checkpoint before it can be resumed. It takes one more step of the graph each
    turn: mind `recursion_limit`. What it adds counts as delivered at once.

    Args:
        goto: The model's node.
        messages: The key of the messages in the state.
        agent: The agent's name, where several share a trace; as in the config's metadata
            `lc_agent_name`, or the graph's name.
        watchdog: Whose corrections; default: the watchdog of this process.
    """

    def __init__(
        self,
        goto: str,
        *,
        messages: str = "messages",
        agent: str | None = None,
        watchdog: WatchdogSpanProcessor | None = None,
    ) -> None:
        self._goto = goto
        self._messages = messages
        self._agent = agent
        self._delivery = Delivery(watchdog)

    def __call__(self, state: Any) -> Command[Any]:
        """Go on to the model with what waits."""
        messages = (
            state[self._messages] if isinstance(state, dict) else getattr(state, self._messages)
        )
        config = get_config()
        metadata = config.get("metadata", {})
        thread = metadata.get("thread_id")
        turn = self._delivery.begin(
            ("langgraph", thread, _run_of(config)),
            number=_answers(messages) + 1,
            conversation=str(thread) if thread is not None else None,
            agent=self._agent or metadata.get("lc_agent_name"),
            span=_span(),
        )
        turn.check()
        texts = turn.texts()
        turn.acknowledge()
        update = {self._messages: [HumanMessage(text) for text in texts]} if texts else {}
        return Command(goto=self._goto, update=update)


def _answers(messages: list[Any]) -> int:
    """Count the model's answers since a person last spoke."""
    count = 0
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            count += 1
        elif isinstance(message, HumanMessage) and not is_ours(message.content):
            break
    return count


def _run_of(config: Any) -> Any:
    parent = getattr(config.get("callbacks"), "parent_run_id", None)
    return config.get("run_id") or parent


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
