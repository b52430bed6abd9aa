"""Puts corrections before an agent of the OpenAI Agents SDK, and ends a run at its turn cap.

    watch = WatchdogHooks()
    Runner.run_sync(agent, "…", hooks=watch, run_config=watch.run_config(), max_turns=100)

Needs the SDK (extra `openai-agents`) and a tracer such as OpenInference's
OpenAIAgentsInstrumentor.
"""

import dataclasses
from contextvars import ContextVar
from typing import Any

from agents import RunConfig, RunHooks, ToolGuardrailFunctionOutput
from agents.exceptions import AgentsException
from agents.run_config import CallModelData, ModelInputData
from agents.tool_guardrails import ToolInputGuardrail, ToolInputGuardrailData
from agents.tracing import get_current_span

from otel_watchdog.delivery import Delivery
from otel_watchdog.errors import AgentHalted
from otel_watchdog.processor import WatchdogSpanProcessor

_current: ContextVar[tuple[Any, ...] | None] = ContextVar("otel_watchdog_run", default=None)
"""The run that this task works for."""


class RunHalted(AgentHalted, AgentsException):
    """A correction ended the run: an `AgentHalted` that carries the SDK's `run_data`."""

    def __init__(self, reason: str, *, correction_id: str, turn: int) -> None:
        super().__init__(reason, correction_id=correction_id, turn=turn)
        self.run_data = None


class WatchdogHooks(RunHooks[Any]):
    """Takes an agent's corrections before each model call and adds them as user messages.

    They come after all results of the turn before and stand at the same place in all later
    requests of the run; neither `to_input_list()` nor a session holds them. In mode `enforce` the
    run raises `RunHalted` before the first call past its turn cap. An agent that is used as a tool
    inherits the run config and gets its own. Where the server keeps the conversation
    (`previous_response_id`), say so.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds; only tools that
            have `tool_input_guardrails=[watch.guardrail()]`.
        server_keeps: Whether the server keeps what a request adds, so that it is sent once.
    """

    def __init__(
        self,
        watchdog: WatchdogSpanProcessor | None = None,
        *,
        withdraw_tools: bool = False,
        server_keeps: bool = False,
    ) -> None:
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
        self._server_keeps = server_keeps

    def run_config(self, base: "RunConfig | None" = None) -> RunConfig:
        """Return a run config that has the model's input pass through here.

        Args:
            base: The other settings; an input filter of its own is called first.
        """
        base = base or RunConfig()
        before = base.call_model_input_filter

        async def both(data: CallModelData[Any]) -> ModelInputData:
            if before is not None:
                filtered: Any = before(data)
                if not isinstance(filtered, ModelInputData):
                    filtered = await filtered
                data = dataclasses.replace(data, model_data=filtered)
            return self._filter(data)

        return dataclasses.replace(base, call_model_input_filter=both)

    def guardrail(self) -> ToolInputGuardrail[Any]:
        """Return a guardrail that refuses a tool which was withdrawn."""

        def watchdog(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
            run = _current.get() or _run(data.agent)
            refusal = self._delivery.refusal(run, data.context.tool_name)
            if refusal is None:
                return ToolGuardrailFunctionOutput.allow()
            return ToolGuardrailFunctionOutput.reject_content(refusal)

        return ToolInputGuardrail(watchdog)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:  # noqa: ARG002 - the hook's
        """Acknowledge what the call went out with."""
        self._delivery.settle(_current.get() or _run(agent))

    def _filter(self, data: CallModelData[Any]) -> ModelInputData:
        run = _run(data.agent)
        _current.set(run)
        turn = self._delivery.begin(run, agent=data.agent.name)
        turn.check(RunHalted)
        given = data.model_data
        if self._server_keeps:
            items = [*given.input, *map(_message, turn.texts())]
        else:
            items = turn.woven(given.input, _message)
        return ModelInputData(input=items, instructions=given.instructions)


def _message(text: str) -> Any:
    return {"role": "user", "content": text}


def _run(agent: Any) -> tuple[Any, ...]:
    """Return what tells an agent's run from others: the SDK's span around its turns."""
    span: Any = get_current_span()
    if span is None:
        return (None, agent.name)
    if type(span.span_data).__name__ == "AgentSpanData":
        return (span.span_id, agent.name)
    return (span.parent_id, agent.name)
