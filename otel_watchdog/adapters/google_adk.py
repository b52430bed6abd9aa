"""Puts corrections before agents of the Google ADK, and ends a run whose turn cap is reached.

    runner = Runner(agent=agent, plugins=[WatchdogPlugin()], …)

Needs the ADK (extra `google-adk`), whose own tracing writes the spans.
"""

from collections.abc import Hashable
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from otel_watchdog.delivery import Delivery
from otel_watchdog.errors import AgentHalted
from otel_watchdog.processor import WatchdogSpanProcessor


class WatchdogPlugin(BasePlugin):
    """Takes each agent's corrections before its model calls and adds them to the last content.

    They stand after all results, in the same content, and at the same place in all later requests
    of the run; the session does not hold them. In mode `enforce` the run raises before the first
    call past its turn cap: the ADK wraps what a plugin raises into a `RuntimeError`, and
    `halt_of(error)` returns the `AgentHalted` behind it. Each agent of the runner gets its own,
    also those that work as a tool.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.
        name: The plugin's name in the runner.
    """

    def __init__(
        self,
        watchdog: WatchdogSpanProcessor | None = None,
        *,
        withdraw_tools: bool = False,
        name: str = "otel_watchdog",
    ) -> None:
        super().__init__(name)
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Add what waits, or end the run."""
        turn = self._delivery.begin(
            _run(callback_context),
            conversation=callback_context.session.id,
            agent=callback_context.agent_name,
        )
        turn.check()
        contents = llm_request.contents
        for index, text in turn.places(contents):
            part = types.Part(text=text)
            if index and contents[index - 1].role == "user":
                content = contents[index - 1]
                contents[index - 1] = content.model_copy(update={"parts": [*content.parts, part]})
            else:
                contents.insert(index, types.Content(role="user", parts=[part]))

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:  # noqa: ARG002 - the hook's
        """Acknowledge what the call went out with."""
        self._delivery.settle(_run(callback_context))

    async def on_model_error_callback(
        self,
        *,
        callback_context: Any,
        llm_request: Any,  # noqa: ARG002 - the hook's
        error: Exception,  # noqa: ARG002 - the hook's
    ) -> None:
        """Take back what the call did not go out with."""
        self._delivery.settle(_run(callback_context), sent=False)

    async def before_tool_callback(
        self,
        *,
        tool: Any,
        tool_args: Any,  # noqa: ARG002 - the hook's
        tool_context: Any,
    ) -> dict[str, Any] | None:
        """Refuse a tool that was withdrawn."""
        refusal = self._delivery.refusal(_run(tool_context), tool.name)
        return {"error": refusal} if refusal is not None else None


def halt_of(error: BaseException | None) -> AgentHalted | None:
    """Return the halt behind what a runner raised; `None` if it is another error."""
    while error is not None and not isinstance(error, AgentHalted):
        error = error.__cause__
    return error


def _run(context: Any) -> Hashable:
    return (context.invocation_id, context.agent_name)
