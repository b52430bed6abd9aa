"""The demo's agent: pydantic-ai for real, with a model that follows a script."""

from typing import Final

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.usage import RunUsage, UsageLimits

from otel_watchdog.adapters.pydantic_ai import RunHalted, WatchdogCapability
from otel_watchdog.model import MARKER
from otel_watchdog.processor import WatchdogSpanProcessor

TASK: Final = "The build fails. Find out why and say how to mend it."
ANSWER: Final = "config.toml names a package that is gone; remove the line `legacy-tls`."
FILES: Final = {
    "main.py": "import config\nconfig.load('config.toml')",
    "config.toml": "[packages]\nlegacy-tls = '0.1'  # removed upstream",
}


def run(
    provider: TracerProvider,
    *,
    heeds: bool,
    turn_limit: int,
    watchdog: WatchdogSpanProcessor | None = None,
) -> tuple[str, int]:
    """Run the agent once; return how it ended and the tokens it used.

    Args:
        provider: Where its spans go.
        heeds: Whether it changes its ways when it is told to.
        turn_limit: Its own limit of model calls.
        watchdog: Who watches it; `None`: nobody.
    """
    model = FunctionModel(_heeding if heeds else _stubborn, model_name="scripted")
    agent = Agent(
        model,
        name="build_fixer",
        capabilities=[WatchdogCapability(watchdog)] if watchdog else [],
    )
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
    agent.tool_plain(read_file)
    usage = RunUsage()
    try:
        result = agent.run_sync(
            TASK, usage=usage, usage_limits=UsageLimits(request_limit=turn_limit)
        )
        outcome = f"finished: {result.output}"
    except RunHalted as halted:
        outcome = str(halted)
    except UsageLimitExceeded:
        outcome = f"stopped by its own limit of {turn_limit} turns, without a result"
    finally:
        Agent.instrument_all(instrument=False)
    return outcome, usage.total_tokens


def read_file(path: str) -> str:
    """Return the text of a file."""
    return FILES.get(path, f"no such file: {path}")


def _stubborn(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Read the same file for ever."""
    return _call("main.py", messages)


def _heeding(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Read the same file until somebody says so; then look elsewhere, and answer."""
    nudged_at = next((i for i, message in enumerate(messages) if _is_nudge(message)), None)
    if nudged_at is None:
        return _call("main.py", messages)
    if len(messages) - nudged_at == 1:
        return _call("config.toml", messages)
    return ModelResponse(parts=[TextPart(ANSWER)])


def _call(path: str, messages: list[ModelMessage]) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart("read_file", {"path": path}, f"call_{len(messages)}")])


def _is_nudge(message: ModelMessage) -> bool:
    return any(
        isinstance(part, UserPromptPart) and str(part.content).startswith(MARKER)
        for part in message.parts
    )
