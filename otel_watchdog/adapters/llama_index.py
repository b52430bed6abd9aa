"""A LlamaIndex agent that takes its corrections, and ends a run whose turn cap is reached.

    agent = WatchedFunctionAgent(tools=[...], llm=llm, name="fixer")

Needs LlamaIndex (extra `llama-index`) and a tracer such as OpenInference's LlamaIndexInstrumentor.
"""

from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from pydantic import PrivateAttr

from otel_watchdog.delivery import Delivery
from otel_watchdog.processor import WatchdogSpanProcessor


class WatchedFunctionAgent(FunctionAgent):
    """A `FunctionAgent` that adds its corrections to its scratchpad before each step.

    They are user messages after all results of the turn before, and stay. In mode `enforce` the
    run raises `AgentHalted` before the first call past its turn cap. Pass `withdraw_tools` to
    `watch` to have a looping tool hidden from the model once a cap binds: LlamaIndex still runs it
    if the model calls it all the same.
    """

    _delivery: Delivery = PrivateAttr(default_factory=Delivery)

    def watch(
        self, watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
    ) -> "WatchedFunctionAgent":
        """Set whose corrections are taken, and what is taken away; default: as without it."""
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
        return self

    async def take_step(self, ctx: Any, llm_input: Any, tools: Any, memory: Any) -> Any:
        """See `FunctionAgent.take_step`."""
        pad = await ctx.store.get(self.scratchpad_key, default=[])
        number = sum(1 for message in pad if message.role == "assistant") + 1
        turn = self._delivery.begin((id(ctx), self.name), number=number, agent=self.name)
        turn.check()
        for text in turn.texts():
            pad.append(ChatMessage(role="user", content=text))
        await ctx.store.set(self.scratchpad_key, pad)
        kept = [tool for tool in tools if tool.metadata.name not in turn.withdrawn]
        with turn:
            return await super().take_step(ctx, llm_input, kept, memory)
