"""A pydantic-ai agent with a scripted model, watched, and what its model was given."""

from dataclasses import dataclass, field
from typing import ClassVar

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.capabilities import Instrumentation
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import (
    AgentInfo,
    FunctionModel,
)
from pydantic_ai.models.instrumented import InstrumentationSettings

from otel_watchdog import (
    Correction,
    Mode,
    RepeatedToolCall,
    WatchdogConfig,
    WatchdogSpanProcessor,
)
from otel_watchdog.adapters.pydantic_ai import WatchdogCapability
from otel_watchdog.testing import reraise

THRESHOLD = 3


class Recorder:
    """A channel that keeps what is sent."""

    name: ClassVar[str] = "recorder"

    def __init__(self):
        self.sent: list[Correction] = []

    def send(self, correction):
        self.sent.append(correction)

    def close(self):
        pass


class Watched:
    """A provider with a watchdog, and what agents need to be watched by it."""

    def __init__(self, **settings):
        self.recorder = Recorder()
        self.provider = TracerProvider(shutdown_on_exit=False)
        defaults = {"mode": Mode.FEEDBACK, "refractory_seconds": 0, "refractory_turns": 0}
        self.watchdog = WatchdogSpanProcessor(
            config=WatchdogConfig(**(defaults | settings)),
            detectors=[RepeatedToolCall(threshold=THRESHOLD)],
            channels=[self.recorder],
            on_error=reraise,
        )
        self.provider.add_span_processor(self.watchdog)

    @property
    def sent(self):
        """Corrections sent so far, by tier."""
        return [correction.tier.label for correction in self.recorder.sent]

    def capabilities(self, *more):
        """Return what an agent needs."""
        settings = InstrumentationSettings(tracer_provider=self.provider)
        return [Instrumentation(settings), *more, WatchdogCapability(self.watchdog)]

    def agent(self, model, *more, name="fixer", stream=None):
        """Return an agent with a tool to look at things, that can be told how to look."""
        agent = Agent(
            FunctionModel(model, stream_function=stream),
            name=name,
            capabilities=self.capabilities(*more),
        )
        agent.tool_plain(look)
        return agent


def look(at: str = "it") -> str:
    """Return what stands there."""
    return f"nothing new in {at}"


@dataclass
class Script:
    """A model that makes the same call until it has done so `turns` times; notes what it got."""

    turns: int = 1000
    batch: int = 1
    heeds: bool = False
    fails_at: tuple[int, ...] = ()
    received: list[list[ModelMessage]] = field(default_factory=list)

    def __call__(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        self.received.append(list(messages))
        turn = len(self.received)
        if turn in self.fails_at:
            raise ConnectionError("the provider is down")
        if turn > self.turns or (self.heeds and said(messages)):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart("look", {}, f"call_{turn}_{n}") for n in range(self.batch)]
        )

    def told_at(self):
        """Return the model calls whose last request held a message of ours."""
        return [n for n, messages in enumerate(self.received, 1) if said(messages[-1:])]


def said(messages):
    """Return our messages among these."""
    return [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart) and str(part.content).startswith("[watchdog]")
    ]


def endless(limit=100):
    """Return the limits of a run that nobody else ends."""
    return UsageLimits(request_limit=limit)


def run(agent, how, loop):
    """Run an agent in one of the framework's ways; return its output."""

    async def streamed():
        async with agent.run_stream("go") as result:
            return await result.get_output()

    async def iterated():
        async with agent.iter("go") as running:
            async for _ in running:
                pass
        return running.result.output

    async def awaited():
        return (await agent.run("go")).output

    if how == "run_sync":
        return agent.run_sync("go").output
    return loop.run({"run": awaited, "run_stream": streamed, "iter": iterated}[how]())
