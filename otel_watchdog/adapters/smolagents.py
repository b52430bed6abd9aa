"""Puts corrections before a smolagents agent, and ends a run whose turn cap is reached.

    agent = ToolCallingAgent(tools, model, step_callbacks=[WatchdogCallback()])

Needs smolagents (extra `smolagents`) and a tracer such as OpenInference's SmolagentsInstrumentor.
"""

from typing import Any

from smolagents import ActionStep

from otel_watchdog.delivery import Delivery
from otel_watchdog.processor import WatchdogSpanProcessor


class WatchdogCallback:
    """Takes an agent's corrections after each step and adds them to the step's observations.

    The model reads them in its next request, as the end of the user message that holds the
    results; they stay. In mode `enforce` the run raises `AgentHalted` after the last step that its
    turn cap allows. What it adds counts as delivered at once. A managed agent needs a callback of
    its own.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is taken out of `agent.tools` once a turn cap
            binds; it stays out.
    """

    def __init__(
        self, watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
    ) -> None:
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)

    def __call__(self, step: Any, agent: Any = None) -> None:
        """See `step_callbacks`."""
        if not isinstance(step, ActionStep) or step.is_final_answer:
            return
        run = (id(agent), id(getattr(agent, "memory", None)))
        turn = self._delivery.begin(
            run, number=step.step_number + 1, agent=getattr(agent, "name", None)
        )
        turn.check()
        for tool in turn.withdrawn:
            agent.tools.pop(tool, None)
        texts = turn.texts()
        turn.acknowledge()
        if texts:
            step.observations = "\n".join([step.observations or "", *texts])
