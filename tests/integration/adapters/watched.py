"""A watchdog that sees the spans of a framework, in one process whose instrumentors are set up once."""

import asyncio
import threading
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from otel_watchdog import (
    AgentHalted,
    Correction,
    Mode,
    RepeatedToolCall,
    WatchdogConfig,
    WatchdogSpanProcessor,
)
from otel_watchdog.testing import reraise

THRESHOLD = 3
"""Equal calls in a row that the detector finds."""


@dataclass
class Ended:
    """How a run ended, as the caller of the framework sees it."""

    halted: bool
    text: str = ""
    reason: str = ""


class Switch(SpanProcessor):
    """Hands spans to the watchdog of the test that runs: instrumentors are set up only once."""

    def __init__(self) -> None:
        self.target: SpanProcessor | None = None

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if self.target is not None:
            self.target.on_start(span, parent_context)

    def on_end(self, span: Any) -> None:
        if self.target is not None:
            self.target.on_end(span)


class Watched:
    """A watchdog that sees the spans of this process, and what it sent."""

    def __init__(self, **settings: Any) -> None:
        self.corrections: list[Correction] = []
        defaults = {"mode": Mode.FEEDBACK, "refractory_seconds": 0, "refractory_turns": 0}
        self.watchdog = WatchdogSpanProcessor(
            config=WatchdogConfig(**(defaults | settings)),
            detectors=[RepeatedToolCall(threshold=THRESHOLD)],
            channels=[self],
            on_error=reraise,
        )
        provider()
        _switch.target = self.watchdog

    name: ClassVar[str] = "recorder"

    def send(self, correction: Correction) -> None:
        """See `Channel.send`."""
        self.corrections.append(correction)

    def close(self) -> None:
        """See `Channel.close`."""

    @property
    def sent(self) -> list[str]:
        """Tiers of the corrections so far."""
        return [correction.tier.label for correction in self.corrections]


_switch = Switch()


_provider: list[TracerProvider] = []


def provider() -> TracerProvider:
    """Return this process's tracer provider."""
    if not _provider:
        made = TracerProvider(shutdown_on_exit=False)
        made.add_span_processor(_switch)
        trace.set_tracer_provider(made)
        _provider.append(made)
    return _provider[0]


_runner = asyncio.Runner()


def awaited(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in the one loop of this thread: clients are cached across runs."""
    if threading.current_thread() is threading.main_thread():
        return _runner.run(coroutine)
    return asyncio.run(coroutine)


def halted(error: BaseException) -> Ended:
    """Return how a run ended that raised, if it was ours to end; else raise again."""
    if not isinstance(error, AgentHalted):
        raise error
    return Ended(halted=True, reason=error.reason)
