"""What a replay says of a run, and its public JSON shape: see the package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.model import (
    Correction,
    Finding,
    ModelTurn,
    Observation,
    Outcome,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolResult,
    UserMessage,
)

KINDS: Final[Mapping[type[Observation], str]] = {
    RunStarted: "run_started",
    ModelTurn: "model_turn",
    ToolCall: "tool_call",
    ToolResult: "tool_result",
    UserMessage: "user_message",
    RunEnded: "run_ended",
}
"""An observation's word in the public shape."""


@dataclass(slots=True, kw_only=True)
class SessionSummary:
    """One session of a run."""

    id: str
    """The conversation's id where it is known."""
    agent: str | None
    runs: int = 0
    turns: int = 0
    calls: int = 0
    """Tool calls."""


@dataclass(slots=True, kw_only=True)
class Observed:
    """An observation, and which input told of it."""

    event: int
    """Index of the event or span, from 0."""
    session: str
    agent: str | None
    observation: Observation

    def as_json(self) -> dict[str, Any]:
        """Return the public shape."""
        seen = self.observation
        text = seen.text if isinstance(seen, ModelTurn | UserMessage) else None
        return {
            "kind": KINDS[type(seen)],
            "turn": seen.turn,
            "agent": self.agent,
            "session": self.session,
            "call_id": getattr(seen, "call_id", None),
            "name": getattr(seen, "name", None),
            "arguments": getattr(seen, "arguments", None),
            "result": seen.result if isinstance(seen, ToolResult) else text,
            "outcome": seen.outcome.value if isinstance(seen, ToolResult) else None,
        }


@dataclass(slots=True, kw_only=True)
class Found:
    """A finding, and where it was made."""

    event: int
    turn: int
    session: str
    finding: Finding
    held: str | None = None
    """Why it led to no correction of its own; `None` if it speaks in one."""

    def as_json(self) -> dict[str, Any]:
        """Return the public shape."""
        return {
            "event": self.event,
            "turn": self.turn,
            "session": self.session,
            "detector": self.finding.detector,
            "kind": self.finding.kind.value,
            "severity": self.finding.severity.value,
            "reason": self.finding.reason,
            "held": self.held,
        }


@dataclass(slots=True, kw_only=True)
class Corrected:
    """A correction, and where it was called for."""

    event: int
    session: str
    correction: Correction

    def as_json(self) -> dict[str, Any]:
        """Return the public shape."""
        given = self.correction
        return {
            "event": self.event,
            "turn": given.turn,
            "n": given.n,
            "tier": given.tier.label,
            "detector": given.finding.detector,
            "kind": given.finding.kind.value,
            "message": given.message,
            "max_turns": given.max_turns,
        }


@dataclass(slots=True, kw_only=True)
class Concluded:
    """What came of a correction, and where it was known."""

    event: int
    session: str
    outcome: Outcome

    def as_json(self) -> dict[str, Any]:
        """Return the public shape."""
        given = self.outcome
        return {
            "event": self.event,
            "turn": given.turn,
            "n": given.correction.n,
            "outcome": given.outcome.value,
            "turns_to_heed": given.turns_to_heed,
            "response": given.response,
        }


@dataclass(slots=True, kw_only=True)
class Checked:
    """A question to the judge, and where it was put."""

    event: int
    session: str
    check: DriftCheck

    def as_json(self) -> dict[str, Any]:
        """Return the public shape."""
        made = self.check
        return {
            "event": self.event,
            "turn": made.turn,
            "session": self.session,
            "verdict": made.verdict,
            "confidence": made.confidence,
            "reason": made.reason,
            "cost_usd": made.cost_usd,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRun:
    """What the watchdog makes of one recorded run, or of one OTLP recording."""

    id: str
    sessions: Sequence[SessionSummary]
    findings: Sequence[Found]
    corrections: Sequence[Corrected]
    blind: Mapping[str, Mapping[str, str]]
    """By session, then detector: what it lacks."""
    outcomes: Sequence[Concluded] = ()
    """What came of the corrections."""
    checks: Sequence[Checked] = ()
    """Questions to the judge, if it was to be asked."""
    observations: Sequence[Observed] = ()
    """Empty unless they were asked for."""
    errors: Sequence[str] = ()
    """What could not be read, or failed in a plug-in; the first few, one line each."""

    def as_json(self, *, observations: bool = False) -> dict[str, Any]:
        """Return the public shape; see the package.

        Args:
            observations: Whether they are in it.
        """
        shown: dict[str, Any] = {
            "id": self.id,
            "sessions": [
                {"id": s.id, "agent": s.agent, "runs": s.runs, "turns": s.turns, "calls": s.calls}
                for s in self.sessions
            ],
        }
        if observations:
            shown["observations"] = [seen.as_json() for seen in self.observations]
        shown["findings"] = [found.as_json() for found in self.findings]
        shown["corrections"] = [given.as_json() for given in self.corrections]
        shown["outcomes"] = [concluded.as_json() for concluded in self.outcomes]
        if self.checks:
            shown["drift_checks"] = [made.as_json() for made in self.checks]
        shown["blind"] = {session: dict(lacking) for session, lacking in self.blind.items()}
        return shown
