"""Puts corrections before CrewAI agents, and ends a crew whose turn cap is reached.

    watchdog_hooks()  # once in a process, before `crew.kickoff()`

Needs CrewAI (extra `crewai`) and a tracer such as OpenInference's CrewAIInstrumentor.
"""

from collections.abc import Callable
from typing import Any

from crewai.hooks import (
    HookAborted,
    register_after_llm_call_hook,
    register_before_llm_call_hook,
    register_before_tool_call_hook,
    unregister_after_llm_call_hook,
    unregister_before_llm_call_hook,
    unregister_before_tool_call_hook,
)

from otel_watchdog.delivery import Delivery, is_ours
from otel_watchdog.errors import AgentHalted
from otel_watchdog.processor import WatchdogSpanProcessor


class RunHalted(AgentHalted, HookAborted):
    """A correction ended the run: an `AgentHalted` that CrewAI's hooks let through."""

    def __init__(self, reason: str, *, correction_id: str, turn: int) -> None:
        HookAborted.__init__(self, reason, source="otel_watchdog")
        self.correction_id = correction_id
        self.turn = turn


def watchdog_hooks(
    watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
) -> Callable[[], None]:
    """Have all agents of this process take their corrections before each model call.

    They are user messages after all results of the turn before, and stay. In mode `enforce` the
    crew raises `RunHalted` before the first call past an agent's turn cap. With `akickoff` the
    instrumentation writes no span around the agent: nothing is delivered there.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.

    Returns:
        What takes the hooks away again.
    """
    delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)

    def before_llm_call(context: Any) -> None:
        if context.executor is None:
            return
        turn = delivery.begin(
            _run(context), number=context.iterations + 1, agent=getattr(context.agent, "role", None)
        )
        turn.check(RunHalted)
        messages = context.messages
        for text in turn.texts(lambda text: _stands(text, messages)):
            messages.append({"role": "user", "content": text})

    def after_llm_call(context: Any) -> None:
        if context.executor is not None:
            delivery.settle(_run(context))

    def before_tool_call(context: Any) -> None:
        refusal = delivery.refusal(_run(context), context.tool_name)
        if refusal is not None:
            raise HookAborted(refusal, source="otel_watchdog")

    register_before_llm_call_hook(before_llm_call)
    register_after_llm_call_hook(after_llm_call)
    register_before_tool_call_hook(before_tool_call)

    def remove() -> None:
        unregister_before_llm_call_hook(before_llm_call)
        unregister_after_llm_call_hook(after_llm_call)
        unregister_before_tool_call_hook(before_tool_call)

    return remove


def _run(context: Any) -> tuple[int, int]:
    return (id(context.agent), id(context.task))


def _stands(text: str, messages: list[Any]) -> bool:
    """Say whether a failed call has left `text` where the model will read it next."""
    for message in reversed(messages):
        if message.get("role") == "assistant":
            return False
        if is_ours(text) and message.get("content") == text:
            return True
    return False
