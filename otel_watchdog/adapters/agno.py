"""Puts corrections before Agno agents, and ends a run whose turn cap is reached.

    agent = watch(Agent(model=OpenAIChat(id="gpt-5"), tools=[...], name="fixer"))

Needs Agno 3 (extra `agno`) and a tracer such as OpenInference's AgnoInstrumentor.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final, TypeVar

from agno.exceptions import RunCancelledException
from agno.models.message import Message

from otel_watchdog.delivery import Delivery, Turn, is_ours
from otel_watchdog.errors import AgentHalted, ConfigError
from otel_watchdog.processor import WatchdogSpanProcessor

HALT: Final = "otel_watchdog_halt"
"""Where the metadata of a run that was ended says why."""

_Watched = TypeVar("_Watched")


class RunHalted(AgentHalted, RunCancelledException):
    """A correction ended the run: an `AgentHalted` that Agno takes for a cancellation."""


def watch(
    agent: _Watched,
    watchdog: WatchdogSpanProcessor | None = None,
    *,
    withdraw_tools: bool = False,
) -> _Watched:
    """Have an agent, or a team's leader, take its corrections before each model call.

    They are user messages after all results of the turn before, and stay in the run and its
    session. In mode `enforce` a run that goes on past its turn cap ends before the next model
    call, with `RunStatus.cancelled`; `halt_of(output)` says why. Members of a team and agents that
    work as a tool are watched by a call of their own.

    Args:
        agent: The agent or team; its `model` must be set, and is watched from now on.
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.

    Returns:
        The agent itself.

    Raises:
        ConfigError: It has no model.
    """
    given: Any = agent
    if given.model is None:
        raise ConfigError("watch: the agent's model must be set, got None")
    delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
    given.model.__class__ = _watched(type(given.model), delivery)
    if withdraw_tools:
        given.tool_hooks = [_gate(delivery), *(given.tool_hooks or [])]
    return agent


def halt_of(output: Any) -> AgentHalted | None:
    """Return why a run was ended, from its `RunOutput`; `None`: it was not."""
    halt = (output.metadata or {}).get(HALT) if output is not None else None
    return AgentHalted(**halt) if halt else None


def _watched(kind: type[Any], delivery: Delivery) -> type[Any]:
    """Return a model's class that begins a turn before each call; Agno has no hook there."""

    class Watched(kind):  # type: ignore[misc] # which class is not known before
        def invoke(self, messages: list[Any], **options: Any) -> Any:
            with _begin(delivery, messages, options.get("run_response")):
                return super().invoke(messages, **options)

        async def ainvoke(self, messages: list[Any], **options: Any) -> Any:
            with _begin(delivery, messages, options.get("run_response")):
                return await super().ainvoke(messages, **options)

        def invoke_stream(self, messages: list[Any], **options: Any) -> Iterator[Any]:
            with _begin(delivery, messages, options.get("run_response")):
                yield from super().invoke_stream(messages, **options)

        async def ainvoke_stream(self, messages: list[Any], **options: Any) -> AsyncIterator[Any]:
            with _begin(delivery, messages, options.get("run_response")):
                async for part in super().ainvoke_stream(messages, **options):
                    yield part

    Watched.__name__, Watched.__qualname__ = kind.__name__, kind.__qualname__
    return Watched


def _begin(delivery: Delivery, messages: list[Any], run: Any) -> Turn:
    """Add what waits to the run's messages, or end the run."""
    answers = sum(1 for m in messages if m.role == "assistant" and not m.from_history)
    turn = delivery.begin(
        getattr(run, "run_id", None),
        number=answers + 1,
        conversation=getattr(run, "session_id", None),
        agent=getattr(run, "agent_name", None) or getattr(run, "team_name", None),
    )
    halt = turn.halt
    if halt is not None:
        told = {"reason": halt.reason, "correction_id": halt.correction_id, "turn": halt.turn}
        run.metadata = {**(run.metadata or {}), HALT: told}
    turn.check(RunHalted)
    texts = turn.texts(lambda text: _stands(text, messages))
    messages.extend(Message(role="user", content=text) for text in texts)
    return turn


def _gate(delivery: Delivery) -> Callable[..., Any]:
    """Return a tool hook that refuses what was withdrawn."""

    def watchdog_gate(
        run_context: Any,
        function_name: str,
        function_call: Callable[..., Any],
        arguments: dict[str, Any],
    ) -> Any:
        refusal = delivery.refusal(run_context.run_id, function_name)
        return refusal if refusal is not None else function_call(**arguments)

    return watchdog_gate


def _stands(text: str, messages: list[Any]) -> bool:
    """Say whether a failed call has left `text` where the model will read it next."""
    for message in reversed(messages):
        if message.role == "assistant":
            return False
        if is_ours(text) and message.content == text:
            return True
    return False
