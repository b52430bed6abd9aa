"""Puts corrections before a Haystack agent, and ends a run whose turn cap is reached.

    agent = Agent(chat_generator=generator, tools=[...], hooks=watchdog_hooks())

Needs Haystack 3 (extra `haystack`), whose own tracing writes the spans, with their content.
"""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, Final

from haystack.components.agents.state.state_utils import replace_values
from haystack.dataclasses import ChatMessage

from otel_watchdog.delivery import Delivery
from otel_watchdog.errors import AgentHalted
from otel_watchdog.processor import WatchdogSpanProcessor

RUN: Final = "otel_watchdog_run"
"""Where an agent's state holds which run it is."""


def watchdog_hooks(
    watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
) -> dict[str, list[Any]]:
    """Return the hooks by which an agent takes its corrections before each model call.

    They are user messages after all results of the turn before, and stay in the agent's messages.
    In mode `enforce` the agent raises `AgentHalted` before the first call past its turn cap; a
    pipeline makes an error of its own of it, and `halt_of(error)` returns the halt behind that. An
    agent that works as a tool needs hooks of its own. They are not saved with a pipeline.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.

    Returns:
        For the agent's `hooks`; add your own to its lists.
    """
    delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
    return {
        "before_llm": [_BeforeModel(delivery)],
        "before_tool": [_BeforeTools(delivery)],
        "after_run": [_AfterRun(delivery)],
    }


def halt_of(error: BaseException | None) -> AgentHalted | None:
    """Return the halt behind what a pipeline raised; `None` if it is another error."""
    while error is not None and not isinstance(error, AgentHalted):
        error = error.__cause__
    return error


class _Hook(ABC):
    """What the hooks have alike."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery

    @abstractmethod
    def run(self, state: Any) -> None:
        """Act at this point of a run."""

    async def run_async(self, state: Any) -> None:
        self.run(state)


class _BeforeModel(_Hook):
    """Adds what waits, or ends the run."""

    def run(self, state: Any) -> None:
        if not hasattr(state, RUN):
            setattr(state, RUN, uuid.uuid4().hex)
        turn = self._delivery.begin(_run(state), number=state.data["step_count"] + 1)
        turn.check()
        texts = turn.texts()
        if texts:
            state.set("messages", [ChatMessage.from_user(text) for text in texts])


class _BeforeTools(_Hook):
    """Acknowledges what the call went out with, and refuses tools that were withdrawn."""

    def run(self, state: Any) -> None:
        self._delivery.settle(_run(state))
        *before, asked = state.data["messages"]
        refused = [(c, self._delivery.refusal(_run(state), c.tool_name)) for c in asked.tool_calls]
        answers = [
            ChatMessage.from_tool(text, origin=call, error=True) for call, text in refused if text
        ]
        if not answers:
            return
        kept = [call for call, text in refused if not text]
        calls = [call for call, text in refused if text]
        messages = [*before, ChatMessage.from_assistant(asked.text, tool_calls=calls), *answers]
        if kept:
            messages.append(ChatMessage.from_assistant(tool_calls=kept))
        state.set("messages", messages, handler_override=replace_values)


class _AfterRun(_Hook):
    """Acknowledges what the last call went out with."""

    def run(self, state: Any) -> None:
        self._delivery.settle(_run(state))


def _run(state: Any) -> Hashable:
    run: Hashable = getattr(state, RUN, None)
    return run
