"""Puts corrections before agents of the Microsoft Agent Framework, and ends a run at its turn cap.

    agent = Agent(client, tools=[...], name="fixer", middleware=watchdog_middleware())

Needs the framework (extra `agent-framework`), whose own tracing writes the spans.
"""

from collections.abc import Awaitable, Callable, Hashable
from typing import Any

from agent_framework import (
    ChatContext,
    ChatMiddleware,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
)
from opentelemetry import trace

from otel_watchdog.delivery import Delivery
from otel_watchdog.processor import WatchdogSpanProcessor


def watchdog_middleware(
    watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
) -> list["ChatMiddleware | FunctionMiddleware"]:
    """Return the middleware by which an agent takes its corrections before each model call.

    They are user messages after all results of the turn before and stand at the same place in all
    later requests of the run; the agent's session does not hold them. In mode `enforce` the run
    raises `AgentHalted` before the first call past its turn cap. An agent that works as a tool
    needs middleware of its own and gets its own corrections; ended, it is a failed tool.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.
    """
    delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
    return [_Turns(delivery), _Tools(delivery)] if withdraw_tools else [_Turns(delivery)]


class _Turns(ChatMiddleware):
    """Begins a turn before each model call."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Add what waits, or end the run; see `ChatMiddleware.process`."""
        turn = self._delivery.begin(_run())
        turn.check()
        context.messages = turn.woven(context.messages, _message)
        if not context.stream:
            with turn:
                await call_next()
            return

        def answered(response: Any) -> Any:
            turn.acknowledge()
            return response

        context.stream_result_hooks.append(answered)
        try:
            await call_next()
        except BaseException:
            turn.release()
            raise


class _Tools(FunctionMiddleware):
    """Refuses tools that were withdrawn."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery

    async def process(
        self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]
    ) -> None:
        """Answer in the tool's place; see `FunctionMiddleware.process`."""
        refusal = self._delivery.refusal(_run(), context.function.name)
        if refusal is None:
            await call_next()
        else:
            context.result = refusal


def _message(text: str) -> Message:
    return Message("user", [text])


def _run() -> Hashable:
    """Return what tells a run from others: the span around it, in which each of its parts works."""
    context = trace.get_current_span().get_span_context()
    return (context.trace_id, context.span_id)
