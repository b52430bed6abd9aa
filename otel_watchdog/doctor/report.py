"""What an examination found."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from otel_watchdog.replay import SessionSummary


@dataclass(slots=True, kw_only=True)
class Recognised:
    """Spans of one instrumentation scope."""

    scope: str
    dialect: str | None
    """Which reads them; `None`: nobody, they say nothing of agents."""
    spans: int = 0
    """Spans and log records that were read, or all of them where nobody reads them."""


@dataclass(slots=True, kw_only=True)
class Calls:
    """Tool calls, and of how many something is known."""

    total: int = 0
    arguments: int = 0
    results: int = 0
    """Of those that did not fail: an error has a text of its own, or none."""
    ids: int = 0
    outcomes: int = 0
    failed: int = 0

    def share(self, known: str) -> float | None:
        """Return the share of calls of which something is known; `None` without calls.

        >>> Calls(total=4, arguments=1).share("arguments")
        0.25
        """
        total = self.total - self.failed if known == "results" else self.total
        return getattr(self, known) / total if total else None


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to set so that more is seen."""

    scope: str
    setting: str
    shows: str


@dataclass(slots=True, kw_only=True)
class Report:
    """What the watchdog sees of a recording or a tracer provider."""

    name: str
    recognised: Sequence[Recognised] = ()
    calls: Calls = field(default_factory=Calls)
    sessions: Sequence[SessionSummary] = ()
    blind: dict[str, dict[str, int]] = field(default_factory=dict)
    """What detectors lack, by reason and detector: in how many sessions."""
    remedies: Sequence[Remedy] = ()
    problems: Sequence[str] = ()
    """What is wrong with the pipeline, each in one sentence with its cure."""
    processors: Sequence[str] = ()
    """Span processors of a live provider, in their order."""

    @property
    def is_well(self) -> bool:
        """Whether nothing is hidden: no detector is blind and nothing is wrong."""
        return not self.blind and not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the public JSON shape: keys are added, never changed or taken away."""
        calls: dict[str, Any] = asdict(self.calls)
        calls["shares"] = {
            known: self.calls.share(known) for known in ("arguments", "results", "ids", "outcomes")
        }
        return {
            "name": self.name,
            "well": self.is_well,
            "recognised": [asdict(one) for one in self.recognised],
            "calls": calls,
            "sessions": [
                {
                    "id": session.id,
                    "agent": session.agent,
                    "runs": session.runs,
                    "turns": session.turns,
                    "calls": session.calls,
                }
                for session in self.sessions
            ],
            "blind": self.blind,
            "remedies": [asdict(remedy) for remedy in self.remedies],
            "problems": list(self.problems),
            "processors": list(self.processors),
        }
