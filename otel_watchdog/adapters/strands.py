"""Puts corrections before a Strands agent, and ends a run whose turn cap is reached.

    agent = Agent(tools=[...], hooks=[WatchdogHooks()])

Needs Strands (extra `strands`), whose own tracing writes the spans.
"""

import uuid
from collections.abc import Hashable
from typing import Any, Final

from strands.hooks import (
    AfterModelCallEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)
from strands.types.exceptions import EventLoopException

from otel_watchdog.delivery import Delivery
from otel_watchdog.errors import AgentHalted
from otel_watchdog.processor import WatchdogSpanProcessor

RUN: Final = "otel_watchdog_run"
"""Where an invocation's state holds which run it is."""


class WatchdogHooks(HookProvider):
    """Takes an agent's corrections before each model call and adds them to the last user message.

    They stand after all results, in the same message, because some providers reject two user
    messages in a row; the history keeps them. In mode `enforce` the agent raises before the first
    call past its turn cap: Strands wraps what a hook raises into an `EventLoopException`, whose
    `__cause__` is the `AgentHalted`; `halt_of(error)` returns it. A sub-agent needs hooks of its
    own.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.
    """

    def __init__(
        self, watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
    ) -> None:
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        """See `HookProvider.register_hooks`."""
        registry.add_callback(BeforeInvocationEvent, self._begin_run)
        registry.add_callback(BeforeModelCallEvent, self._begin_turn)
        registry.add_callback(AfterModelCallEvent, self._end_turn)
        registry.add_callback(BeforeToolCallEvent, self._call_tool)

    def _begin_run(self, event: BeforeInvocationEvent) -> None:
        event.invocation_state[RUN] = (id(event.agent), uuid.uuid4().hex)

    def _begin_turn(self, event: BeforeModelCallEvent) -> None:
        turn = self._delivery.begin(_run(event), agent=event.agent.name)
        turn.check()
        messages = event.agent.messages
        content = messages[-1]["content"]
        for text in turn.texts(lambda text: any(block.get("text") == text for block in content)):
            content.append({"text": text})

    def _end_turn(self, event: AfterModelCallEvent) -> None:
        self._delivery.settle(_run(event), sent=event.exception is None)

    def _call_tool(self, event: BeforeToolCallEvent) -> None:
        refusal = self._delivery.refusal(_run(event), event.tool_use["name"])
        if refusal is not None:
            event.cancel_tool = refusal


def halt_of(error: BaseException) -> AgentHalted | None:
    """Return the halt behind what an agent raised; `None` if it is another error."""
    while isinstance(error, EventLoopException) and error.__cause__ is not None:
        error = error.__cause__
    return error if isinstance(error, AgentHalted) else None


def _run(event: Any) -> Hashable:
    run: Hashable = event.invocation_state.get(RUN)
    return run
