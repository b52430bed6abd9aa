"""Puts corrections before an AutoGen agent, and ends a run whose turn cap is reached.

    agent = AssistantAgent("fixer", client, model_context=WatchedContext(), …)

Needs AutoGen's AgentChat (extra `autogen`) and a tracer such as OpenInference's
AutogenAgentChatInstrumentor.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autogen_core.model_context import ChatCompletionContext, UnboundedChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage
from autogen_core.tools import BaseTool, FunctionTool
from opentelemetry import trace

from otel_watchdog.delivery import Delivery
from otel_watchdog.processor import WatchdogSpanProcessor

if TYPE_CHECKING:
    from otel_watchdog.errors import AgentHalted

SOURCE = "otel_watchdog"
"""Who says what was put into a context."""


class WatchedContext(ChatCompletionContext):
    """A model context in which an agent finds its corrections before each model call.

    They are user messages after all results of the turn before, and stay. In mode `enforce` the
    agent raises `AgentHalted` before the first call past its turn cap; a team makes a
    `RuntimeError` of it, and `halt` says why. Runs are told apart by their traces. Each agent
    needs a context of its own; a component that is dumped is not watched.

    Where a team makes the loop, with one model call each time it asks the agent, each of these is a
    run of its own: the agent is nudged, but nothing firmer follows. Raise `max_tool_iterations`.

    Args:
        inner: What keeps the messages; default: an `UnboundedChatCompletionContext`.
        agent: The agent's name; needed where a team asks it several times.
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds; only tools that
            were given to the agent through `guarded`.
    """

    def __init__(
        self,
        inner: "ChatCompletionContext | None" = None,
        *,
        agent: str | None = None,
        watchdog: WatchdogSpanProcessor | None = None,
        withdraw_tools: bool = False,
    ) -> None:
        super().__init__()
        self._inner = inner if inner is not None else UnboundedChatCompletionContext()
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
        self._agent = agent
        self._run = ""
        self.halt: AgentHalted | None = None
        """Why the agent's latest run was ended; `None`: it was not."""

    async def get_messages(self) -> list[LLMMessage]:
        """Begin a turn: add what waits, or end the run."""
        self._run = f"{trace.get_current_span().get_span_context().trace_id:032x}"
        turn = self._delivery.begin(
            self._run, conversation=self._run if self._agent else None, agent=self._agent
        )
        self.halt = turn.halt
        turn.check()
        for text in turn.texts():
            await self._inner.add_message(UserMessage(content=text, source=SOURCE))
        messages: list[LLMMessage] = await self._inner.get_messages()
        return messages

    async def add_message(self, message: LLMMessage) -> None:
        """Keep a message; the model's acknowledges what its call went out with."""
        if isinstance(message, AssistantMessage):
            self._delivery.settle(self._run)
        await self._inner.add_message(message)

    async def clear(self) -> None:
        """See `ChatCompletionContext.clear`."""
        await self._inner.clear()

    async def save_state(self) -> Mapping[str, Any]:
        """See `ChatCompletionContext.save_state`."""
        state: Mapping[str, Any] = await self._inner.save_state()
        return state

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """See `ChatCompletionContext.load_state`."""
        await self._inner.load_state(state)

    def dump_component(self) -> Any:
        """Return the component of what keeps the messages."""
        return self._inner.dump_component()

    def guarded(self, tools: Sequence["BaseTool[Any, Any] | Callable[..., Any]"]) -> list[Any]:
        """Return tools that are refused where they were withdrawn."""
        return [self._guarded(tool) for tool in tools]

    def _guarded(self, tool: Any) -> Any:
        if not isinstance(tool, BaseTool):
            tool = FunctionTool(tool, description=tool.__doc__ or "", name=tool.__name__)
        context = self

        class Guarded(type(tool)):  # type: ignore[misc] # which class is not known before
            async def run_json(self, *args: Any, **options: Any) -> Any:
                refusal = context._delivery.refusal(context._run, self.name)
                return refusal if refusal is not None else await super().run_json(*args, **options)

        guarded = copy.copy(tool)
        guarded.__class__ = Guarded
        return guarded
