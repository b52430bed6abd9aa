"""Puts corrections before a pydantic-ai agent, and ends a run whose turn cap is reached.

    agent = Agent("openai:gpt-5", capabilities=[WatchdogCapability()])

Needs pydantic-ai 2 (extra `pydantic-ai`) and its instrumentation: `Agent.instrument_all()`.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import AgentRunError, SkipToolExecution, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse, UserPromptPart
from pydantic_ai.models import ModelRequestContext

from otel_watchdog.delivery import Delivery
from otel_watchdog.errors import AgentHalted
from otel_watchdog.processor import WatchdogSpanProcessor

_logger = logging.getLogger(__name__)


class RunHalted(AgentHalted, AgentRunError):  # noqa: N818 - as `AgentHalted`
    """A correction ended the run: an `AgentHalted` that is pydantic-ai's own kind of error."""


@dataclass
class WatchdogCapability(AbstractCapability[Any]):
    """Takes an agent's corrections at each turn's start and adds them as user messages.

    A correction comes after all results of the turn before, stays in the message history, and is
    acknowledged when the model has answered a request that held it; a request that failed gives
    it back. In mode `enforce` the run ends with `RunHalted` before the first request past its
    turn cap. A sub-agent needs a capability of its own and gets its own corrections.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.
    """

    watchdog: WatchdogSpanProcessor | None = None
    withdraw_tools: bool = False
    _delivery: Delivery = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Begin with no run known."""
        self._delivery = Delivery(self.watchdog, withdraw_tools=self.withdraw_tools)

    async def wrap_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        handler: Any,
    ) -> ModelResponse:
        """See `AbstractCapability.wrap_model_request`."""
        turn = self._delivery.begin(
            ctx.run_id,
            number=ctx.run_step,
            conversation=ctx.conversation_id,
            agent=ctx.agent.name if ctx.agent else None,
        )
        turn.check(RunHalted)
        with turn:
            for text in turn.texts(lambda text: _is_unanswered(text, ctx.messages)):
                try:
                    ctx.enqueue(text)
                except UserError as error:
                    _logger.warning("a correction could not be put before the agent: %s", error)
            response: ModelResponse = await handler(request_context)
        return response

    async def before_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: Any,  # noqa: ARG002 - the hook's
        tool_def: Any,
        args: Any,
    ) -> Any:
        """Refuse a tool that was withdrawn; see `AbstractCapability.before_tool_execute`."""
        refusal = self._delivery.refusal(ctx.run_id, tool_def.name)
        if refusal is not None:
            raise SkipToolExecution(refusal)
        return args


def _is_unanswered(text: str, messages: Sequence[ModelMessage]) -> bool:
    """Say whether `text` already stands where the model will read it next."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            return False
        if any(isinstance(p, UserPromptPart) and p.content == text for p in message.parts):
            return True
    return False
