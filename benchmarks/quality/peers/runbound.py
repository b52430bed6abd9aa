"""runbound: its loop and error-storm detectors, on by default, over a session's events.

Each turn is a model call, each call a hashed tool call, each failure a tool error, with the clock
of the recording. Its graded policy logs, then pages (both warnings: nothing is stopped), then
contains: a halt, as in a session with a key. The second row is documented as strict:
`on_loop="break"`, which stops at the first rung, and all four shapes, `stall` too. Limits on money
and tokens are left off; recordings have no prices.
"""

import hashlib

from runbound.config import GuardrailConfig
from runbound.detectors import ErrorStormDetector, LoopDetector
from runbound.events import Event
from runbound.state import SessionState

from benchmarks.quality.peers import tools
from benchmarks.quality.peers.guards import HALT, WARN, Rows
from benchmarks.quality.peers.steps import Call, Message, Result, Step

SHAPES = ("repeat", "sequence", "retry", "stall")


class Runbound:
    """Records events in a session and asks the detectors after each."""

    def __init__(self, config: GuardrailConfig) -> None:
        config.validate()
        self._config = config
        self._detectors = (LoopDetector(), ErrorStormDetector())
        self._session = SessionState("run", loop_window=config.loop_window)
        self._turn: int | None = None
        self._steps = 0

    def observe(self, step: Step) -> str | None:
        """Tell the session what happened, and return the firmest answer."""
        if isinstance(step, Message):
            return None if step.is_from_user else self._record("llm_call", None)
        if isinstance(step, Call):
            begun = None if step.turn == self._turn else self._record("llm_call", step.seconds)
            self._turn = step.turn
            text = step.tool + tools.canonical(step.args)
            called = self._record(
                "tool_call",
                step.seconds,
                tool_name=step.tool,
                args_hash=hashlib.sha256(text.encode()).hexdigest(),
            )
            return HALT if HALT in (begun, called) else begun or called
        return self._failed(step) if step.failed else None

    def _failed(self, step: Result) -> str | None:
        return self._record(
            "tool_error", step.seconds, tool_name=step.call.tool, error=step.text[:200]
        )

    def _record(self, kind: str, seconds: float | None, **more: str) -> str | None:
        self._steps += 1
        # Without a clock, a minute lies between two events: no storm can be told.
        event = Event(kind, self._steps * 60.0 if seconds is None else seconds, self._steps, **more)
        self._session.record(event)
        grades = [
            self._grade(one.check(self._session, event, self._config)) for one in self._detectors
        ]
        return HALT if HALT in grades else WARN if WARN in grades else None

    def _grade(self, anomaly: object) -> str | None:
        if anomaly is None:
            return None
        details = getattr(anomaly, "details", None) or {}
        stops = details.get("rung") == "contain" or self._config.on_loop == "break"
        return HALT if stops else WARN


ROWS: Rows = {
    "runbound": lambda _: Runbound(GuardrailConfig()),
    "runbound, break on all shapes": lambda _: Runbound(
        GuardrailConfig(on_loop="break", loop_shapes=SHAPES)
    ),
}
