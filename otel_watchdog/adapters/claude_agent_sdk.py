"""Puts corrections before an agent of the Claude Agent SDK, and ends a run at its turn cap.

For example::

    watch = WatchdogHooks()
    options = ClaudeAgentOptions(hooks=watch.hooks(), …)
    async for message in watch.checked(query(prompt="…", options=options)):
        …

Needs the SDK (extra `claude-agent-sdk`) and a tracer such as OpenInference's
ClaudeAgentSDKInstrumentor.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Hashable
from typing import Any, Final

from claude_agent_sdk import HookMatcher, ResultMessage, SystemMessage
from opentelemetry import trace

from otel_watchdog.delivery import Delivery, Turn
from otel_watchdog.errors import AgentHalted
from otel_watchdog.processor import WatchdogSpanProcessor

MAX_HALTS: Final = 256
"""Sessions that were ended and not asked about yet; the oldest is forgotten first."""

STOPPED: Final = "hook_stopped"
"""The `terminal_reason` of a run that a hook has ended."""

_TURNS: Final = ("UserPromptSubmit", "SubagentStart", "PostToolBatch")
"""Events after which a model call follows."""
_CALL: Final = "PreToolUse"
_ENDED: Final = "SubagentStop"
_SPAWNING: Final = ("Agent", "Task")
"""Names of the tool that starts a sub-agent; tracers name the sub-agent after it."""


class WatchdogHooks:
    """Takes an agent's corrections after each turn's tools and gives them to the model.

    They go in by the SDK's own way, as context of a hook after all results of the turn, and stay
    in the session. The program that the SDK drives decides how the model is told: a reminder in
    the last result, or a message of role `system` for models that take one there. In mode
    `enforce` the run ends before the first model call past its turn cap. The SDK calls that a
    success, with `terminal_reason="hook_stopped"`: `checked` raises `AgentHalted` instead.

    A sub-agent gets its own while it is the only one at work: of several at once the spans do not
    say which is which, and none is told.

    Args:
        watchdog: Whose corrections; default: the watchdog of this process.
        withdraw_tools: Whether a looping tool is refused once a turn cap binds.
    """

    def __init__(
        self, watchdog: WatchdogSpanProcessor | None = None, *, withdraw_tools: bool = False
    ) -> None:
        self._delivery = Delivery(watchdog, withdraw_tools=withdraw_tools)
        self._halts: OrderedDict[str, AgentHalted] = OrderedDict()
        self._spans: dict[str, trace.Span] = {}
        """The open spans of sessions: a client's hooks run outside of them."""
        self._working: dict[str, set[str]] = {}
        """The sub-agents at work in sessions."""
        self._spawned_by: dict[str, str] = {}
        """The tool that started the latest of them."""

    def hooks(self) -> dict[Any, list[HookMatcher]]:
        """Return the hooks for `ClaudeAgentOptions`; add your own to its lists."""
        hooks = dict.fromkeys(_TURNS, self._begin_turn)
        hooks |= {_CALL: self._call_tool, _ENDED: self._end_sub_agent}
        return {event: [HookMatcher(hooks=[hook])] for event, hook in hooks.items()}

    async def checked(self, messages: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield what `query` or a client's `receive_response` yields.

        Raises:
            AgentHalted: A correction ended the run; after its `ResultMessage`.
        """
        session = None
        try:
            async for message in messages:
                if isinstance(message, SystemMessage) and message.subtype == "init":
                    session = str(message.data.get("session_id"))
                    self._spans[session] = trace.get_current_span()
                yield message
                halt = self.halt_of(message)
                if halt is not None:
                    raise halt
        finally:
            if isinstance(messages, AsyncGenerator):
                await messages.aclose()  # else what traces it never ends its span
            for known in (self._spans, self._working, self._spawned_by):
                known.pop(session or "", None)

    def halt_of(self, message: Any) -> AgentHalted | None:
        """Return why the run of a `ResultMessage` was ended, once; `None`: it was not."""
        if not isinstance(message, ResultMessage):
            return None
        halt = self._halts.pop(message.session_id, None)
        return halt if message.terminal_reason == STOPPED else None

    async def _begin_turn(self, told: Any, _tool_use_id: Any, _context: Any) -> Any:
        """Hand over what waits, or end the run."""
        session = told["session_id"]
        turn = self._turn(session, told)
        halt = turn.halt
        if halt is not None:
            self._halts[session] = halt
            if len(self._halts) > MAX_HALTS:
                self._halts.popitem(last=False)
            return {"continue_": False, "stopReason": str(halt)}
        texts = turn.texts()
        turn.acknowledge()
        if not texts:
            return {}
        event, context = told["hook_event_name"], "\n".join(texts)
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}

    def _turn(self, session: str, told: Any) -> Turn:
        run, agent_id = _run(told), told.get("agent_id")
        span = self._spans.get(session) or trace.get_current_span()
        if agent_id is None:
            return self._delivery.begin(
                run, conversation=session, agent=told.get("agent_type"), span=span
            )
        working = self._working.setdefault(session, set())
        working.add(agent_id)
        alone = len(working) == 1
        return self._delivery.begin(
            run,
            conversation=f"{span.get_span_context().trace_id:032x}" if alone else None,
            agent=self._spawned_by.get(session),
            span=trace.INVALID_SPAN,
        )

    async def _call_tool(self, told: Any, _tool_use_id: Any, _context: Any) -> Any:
        """Refuse a tool that was withdrawn."""
        if told["tool_name"] in _SPAWNING:
            self._spawned_by[told["session_id"]] = told["tool_name"]
        refusal = self._delivery.refusal(_run(told), told["tool_name"])
        if refusal is None:
            return {}
        decision = {"permissionDecision": "deny", "permissionDecisionReason": refusal}
        return {"hookSpecificOutput": {"hookEventName": _CALL, **decision}}

    async def _end_sub_agent(self, told: Any, _tool_use_id: Any, _context: Any) -> Any:
        """Forget a sub-agent."""
        session = told["session_id"]
        working = self._working.get(session, set())
        working.discard(told["agent_id"])
        if not working:
            self._working.pop(session, None)
            self._spawned_by.pop(session, None)
        return {}


def _run(told: Any) -> Hashable:
    return (told["session_id"], told.get("prompt_id"), told.get("agent_id"))
