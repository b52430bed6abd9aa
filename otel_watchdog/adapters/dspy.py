"""A DSPy agent that takes its corrections, and ends a run whose turn cap is reached.

    agent = WatchedReAct("question -> answer", tools=[...], max_iters=100)

Needs DSPy 3 (extra `dspy`) and a tracer such as OpenInference's DSPyInstrumentor.
"""

import functools
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Final, Self

import dspy
from opentelemetry import trace

from otel_watchdog import semconv
from otel_watchdog.delivery import Delivery, Turn
from otel_watchdog.processor import WatchdogSpanProcessor
from otel_watchdog.version import VERSION

_INVOKE: Final = "invoke_agent"

NOTE: Final = "watchdog_note_"
"""What the names of a trajectory's fields that are ours begin with."""

_current: ContextVar[Hashable] = ContextVar("otel_watchdog_run", default=None)
"""The run that this task works for."""


class WatchedReAct(dspy.ReAct):  # type: ignore[misc] # DSPy's classes are not typed here
    """A `dspy.ReAct` that adds its corrections to its trajectory before each step.

    DSPy has no conversation: each request is one user message, which holds the trajectory. A
    correction is a field of it after the last observation, and stays. In mode `enforce` the run
    raises `AgentHalted` before the first step past its turn cap. An agent that works as a tool
    gets its own, if both have names. It takes the arguments of `dspy.ReAct`; a copy, such as an
    optimizer makes, keeps its name and nothing else that `watch` has set.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._delivery = Delivery()
        self._agent: str | None = None
        for name, tool in self.tools.items():
            if name != "finish":
                self.tools[name] = tool.model_copy(update={"func": self._guarded(name, tool.func)})

    def watch(
        self,
        watchdog: WatchdogSpanProcessor | None = None,
        *,
        agent: str | None = None,
        withdraw_tools: bool = False,
    ) -> Self:
        """Set what is not as it should be without this call.

        Args:
            watchdog: Whose corrections; default: the watchdog of this process.
            agent: The agent's name; needed where several share a trace.
            withdraw_tools: Whether a looping tool is refused once a turn cap binds.
        """
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
        self._agent = agent
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot be copied or saved."""
        state: dict[str, Any] = super().__getstate__()
        state.pop("_delivery", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with no run known."""
        super().__setstate__(state)
        self._delivery = Delivery()

    def forward(self, **inputs: Any) -> Any:
        """Run in a span of an agent: see `dspy.ReAct.forward`."""
        with self._span():
            return super().forward(**inputs)

    async def aforward(self, **inputs: Any) -> Any:
        """As `forward`."""
        with self._span():
            return await super().aforward(**inputs)

    def truncate_trajectory(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        """Leave out the oldest step, as `dspy.ReAct` does; what is ours stays."""
        steps = {name: text for name, text in trajectory.items() if not name.startswith(NOTE)}
        kept = super().truncate_trajectory(steps)
        for name in list(trajectory):
            if name not in kept and not name.startswith(NOTE):
                del trajectory[name]
        return trajectory

    def _call_with_potential_trajectory_truncation(
        self, module: Any, trajectory: dict[str, Any], **inputs: Any
    ) -> Any:
        if module is not self.react:
            return super()._call_with_potential_trajectory_truncation(module, trajectory, **inputs)
        with self._begin(trajectory):
            return super()._call_with_potential_trajectory_truncation(module, trajectory, **inputs)

    async def _async_call_with_potential_trajectory_truncation(
        self, module: Any, trajectory: dict[str, Any], **inputs: Any
    ) -> Any:
        call = super()._async_call_with_potential_trajectory_truncation
        if module is not self.react:
            return await call(module, trajectory, **inputs)
        with self._begin(trajectory):
            return await call(module, trajectory, **inputs)

    def _span(self) -> AbstractContextManager[trace.Span]:
        """Open what tells this agent's run from its caller's; DSPy's tracers may not."""
        attributes = {semconv.GEN_AI_OPERATION_NAME: _INVOKE}
        if self._agent is not None:
            attributes[semconv.GEN_AI_AGENT_NAME] = self._agent
        tracer = trace.get_tracer(__name__, VERSION)
        name = f"{_INVOKE} {self._agent}" if self._agent else _INVOKE
        return tracer.start_as_current_span(name, attributes=attributes)

    def _begin(self, trajectory: dict[str, Any]) -> Turn:
        """Add what waits, or end the run."""
        run = (id(trajectory), trace.get_current_span().get_span_context().span_id)
        _current.set(run)
        turn = self._delivery.begin(run, agent=self._agent)
        turn.check()
        for number, text in enumerate(turn.texts()):
            trajectory[f"{NOTE}{turn.number}_{number}"] = text
        return turn

    def _guarded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a tool's function that is refused where the tool was withdrawn."""

        @functools.wraps(function)
        def guarded(**arguments: Any) -> Any:
            refusal = self._delivery.refusal(_current.get(), name)
            return refusal if refusal is not None else function(**arguments)

        return guarded
