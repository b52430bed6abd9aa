"""Puts corrections into a hand-written loop around a model's client, and ends it at its turn cap.

For example::

    run = WatchdogLoop("fixer")
    with run:
        while True:
            with run.turn(messages):
                answer = client.chat.completions.create(messages=messages, …)
            …

Needs a tracer of the client, such as OpenInference's OpenAIInstrumentor or AnthropicInstrumentor
(extras `openai-client`, `anthropic-client`).
"""

import uuid
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Final, Self

from opentelemetry import trace

from otel_watchdog import semconv
from otel_watchdog.delivery import Delivery, Turn
from otel_watchdog.processor import WatchdogSpanProcessor
from otel_watchdog.version import VERSION

_INVOKE: Final = "invoke_agent"


class WatchdogLoop(AbstractContextManager["WatchdogLoop"]):
    """One run of a hand-written agent: a span around it, and its corrections at each turn.

    Works with the messages of OpenAI's chat completions, with the items of its responses and with
    Anthropic's messages. A correction is text of role user after all results; it stays in the list
    that is passed. A turn past the cap raises `AgentHalted`, in mode `enforce`.

    Args:
        agent: The agent's name.
        conversation: The conversation's id, if it goes on after this run.
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether `withdrawn` names the looping tool once a turn cap binds.
    """

    def __init__(
        self,
        agent: str,
        *,
        conversation: str | None = None,
        watchdog: WatchdogSpanProcessor | None = None,
        withdraw_tools: bool = False,
    ) -> None:
        self._agent = agent
        self._conversation = conversation
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
        self._run = uuid.uuid4().hex
        self._stack = ExitStack()
        self._span: trace.Span | None = None

    def __enter__(self) -> Self:
        """Open the run's span and make it the current one."""
        attributes = {
            semconv.GEN_AI_OPERATION_NAME: _INVOKE,
            semconv.GEN_AI_AGENT_NAME: self._agent,
        }
        if self._conversation is not None:
            attributes[semconv.GEN_AI_CONVERSATION_ID] = self._conversation
        tracer = trace.get_tracer(__name__, VERSION)
        span = tracer.start_as_current_span(f"{_INVOKE} {self._agent}", attributes=attributes)
        self._span = self._stack.enter_context(span)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        self._stack.__exit__(kind, error, traceback)

    def turn(self, messages: list[Any]) -> Turn:
        """Begin a turn: put what waits at the end of `messages`; surround the model call with it.

        Args:
            messages: What the model will be given, ending with all results of the turn before.

        Raises:
            AgentHalted: The run's turn cap is passed.
        """
        turn = self._delivery.begin(
            self._run, conversation=self._conversation, agent=self._agent, span=self._span
        )
        turn.check()
        for text in turn.texts():
            _add(messages, text)
        return turn

    def refusal(self, tool: str) -> str | None:
        """Return the result of a call to a tool that was withdrawn; `None`: let it run."""
        return self._delivery.refusal(self._run, tool)


def _add(messages: list[Any], text: str) -> None:
    """Add a text to the results' message where that is the user's, else as a message."""
    last = messages[-1] if messages else None
    content = last.get("content") if isinstance(last, dict) and last.get("role") == "user" else None
    if isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    ):
        content.append({"type": "text", "text": text})
    else:
        messages.append({"role": "user", "content": text})
