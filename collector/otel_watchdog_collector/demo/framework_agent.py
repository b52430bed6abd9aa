"""The demo's agents that a real framework runs: pydantic-ai, with models that follow a script."""

import threading
from collections.abc import Callable
from typing import Final

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

from otel_watchdog import Mode, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.adapters.pydantic_ai import WatchdogCapability
from otel_watchdog.channels.http_stream import HttpStream
from otel_watchdog.model import MARKER
from otel_watchdog_collector.demo import scripts
from otel_watchdog_collector.demo.dialects import MODEL
from otel_watchdog_collector.demo.members import Member, provider_of

TASK: Final = "Read what is there, and answer."

FILES: Final = {
    "main.py": "import config\nconfig.load('config.toml')",
    "config.toml": "[packages]\nlegacy-tls = '0.1'  # removed upstream",
    "orders.csv": "7781,sent,Thursday",
}


def play_framework(member: Member, url: str, delay: float, stop: threading.Event) -> None:
    """Run an agent in its framework: corrections come by the library's stream and adapter.

    Args:
        member: Which.
        url: Of the service.
        delay: Seconds that a turn takes.
        stop: Set when the agent is to end.
    """
    watchdog = WatchdogSpanProcessor(
        config=WatchdogConfig(mode=Mode.FEEDBACK), detectors=[], channels=[HttpStream(url)]
    )
    provider = provider_of(member, url, watchdog)
    agent = Agent(
        FunctionModel(_model(member, delay, stop), model_name=MODEL),
        name=member.name,
        capabilities=[WatchdogCapability(watchdog)],
    )
    agent.instrument = InstrumentationSettings(tracer_provider=provider)
    agent.tool_plain(read_file)
    agent.run_sync(TASK, conversation_id=f"{member.name}-1")
    provider.shutdown()


def read_file(path: str) -> str:
    """Return the text of a file."""
    return FILES.get(path, f"no such file: {path}")


def _model(
    member: Member, delay: float, stop: threading.Event
) -> Callable[[list[ModelMessage], AgentInfo], ModelResponse]:
    """Return a model that reads what it should, or one file for ever until it is told."""
    wanted = "orders.csv" if member.script is scripts.answers else "main.py"

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        stop.wait(delay)
        turns = sum(isinstance(one, ModelResponse) for one in messages)
        told = next((at for at, one in enumerate(messages) if _is_told(one)), None)
        if stop.is_set() or turns >= scripts.MAX_TURNS:
            return ModelResponse(parts=[TextPart("I could not find out.")])
        if told is not None and len(messages) - told == 1:
            return _read("config.toml", turns)
        if told is not None or (wanted == "orders.csv" and turns):
            return ModelResponse(parts=[TextPart("It is found: the answer stands in the file.")])
        return _read(wanted, turns)

    return answer


def _read(path: str, turns: int) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("read_file", {"path": path}, f"call_{turns}")])


def _is_told(message: ModelMessage) -> bool:
    return any(
        isinstance(part, UserPromptPart) and str(part.content).startswith(MARKER)
        for part in message.parts
    )
