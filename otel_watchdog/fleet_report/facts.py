"""The figures of a report, and its public JSON shape."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otel_watchdog.model import CorrectionOutcome, Tier

MANY: Final = 5
"""Corrections from which on a session without a deliverable is an outlier."""

NO_CATEGORY: Final = "default"
"""What agents without a category go by."""

_NOT_HEEDED: Final = (CorrectionOutcome.IGNORED.value, CorrectionOutcome.RELAPSED.value)


@dataclass(slots=True, kw_only=True)
class AgentFacts:
    """One agent's session."""

    session: str
    agent: str
    turns: int = 0
    tokens: int = 0
    turns_after: int = 0
    """Turns after the first correction."""
    tokens_after: int = 0
    cost: float | None = None
    """US dollars; `None`: neither the spans nor a price say."""
    cost_after: float = 0.0
    category: str | None = None
    """As its corrections say; `None`: they do not."""
    started: float | None = None
    """Seconds since the epoch."""
    ended: float | None = None
    tiers: list[int] = field(default_factory=list)
    """Of each correction, in order."""
    detectors: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    turns_to_heed: list[int] = field(default_factory=list)
    deliverables: int = 0
    """Calls that changed something and went well, such as a file that was written."""
    ended_by_cap: bool = False
    """Its last turn was the last that a correction had left it."""

    def spend(self, cost: float | None, *, after: bool) -> None:
        """Add what a model call cost.

        Args:
            cost: US dollars; `None`: not known.
            after: Whether it came after the first correction.
        """
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
            self.cost_after += cost if after else 0.0

    @property
    def is_outlier(self) -> bool:
        """Whether it took many corrections and delivered nothing."""
        return len(self.tiers) >= MANY and not self.deliverables


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What recorded traces say of a fleet."""

    agents: Sequence[AgentFacts]
    would_be: int
    """Recordings without corrections of ours, of which those are shown that would have been."""
    errors: Sequence[str] = ()
    """What could not be read."""
    checks: int = 0
    """Drift checks: how often a model was asked whether an agent still progresses."""
    checks_cost: float = 0.0
    """What they cost, in US dollars."""

    def joined(self, other: "Report") -> "Report":
        """Return one report of both."""
        return Report(
            agents=[*self.agents, *other.agents],
            would_be=self.would_be + other.would_be,
            errors=[*self.errors, *other.errors],
            checks=self.checks + other.checks,
            checks_cost=self.checks_cost + other.checks_cost,
        )

    @property
    def corrections(self) -> int:
        """How many there were."""
        return sum(len(one.tiers) for one in self.agents)

    @property
    def wall_clock(self) -> float:
        """Seconds from the first start to the last end."""
        starts = [one.started for one in self.agents if one.started is not None]
        ends = [one.ended for one in self.agents if one.ended is not None]
        return max(0.0, max(ends) - min(starts)) if starts and ends else 0.0

    @property
    def by_tier(self) -> dict[Tier, int]:
        """Corrections by tier, the mildest first; all five."""
        count = Counter(tier for one in self.agents for tier in one.tiers)
        return {tier: count[tier] for tier in Tier}

    @property
    def by_detector(self) -> list[tuple[str, int]]:
        """Corrections by detector, the most first."""
        return Counter(name for one in self.agents for name in one.detectors).most_common()

    @property
    def drifters(self) -> list[tuple[str, int, int]]:
        """Agents by name with their corrections and highest tier, the most corrected first."""
        found: dict[str, list[int]] = {}
        for one in self.agents:
            if one.tiers:
                found.setdefault(one.agent, []).extend(one.tiers)
        ranked = [(agent, len(tiers), max(tiers)) for agent, tiers in found.items()]
        return sorted(ranked, key=lambda row: (-row[1], -row[2], row[0]))

    @property
    def by_category(self) -> list[tuple[str, int, int, int]]:
        """Categories of corrected agents: agents, corrections, highest tier; the worst first."""
        found: dict[str, list[AgentFacts]] = {}
        for one in self.agents:
            if one.tiers:
                found.setdefault(one.category or NO_CATEGORY, []).append(one)
        ranked = [
            (
                category,
                len({one.agent for one in members}),
                sum(len(one.tiers) for one in members),
                max(max(one.tiers) for one in members),
            )
            for category, members in found.items()
        ]
        return sorted(ranked, key=lambda row: (-row[2], -row[3], row[0]))

    @property
    def cost(self) -> tuple[float, float] | None:
        """What corrected agents cost up to their first correction and after it; `None`: unknown."""
        known = [one for one in self.agents if one.tiers and one.cost is not None]
        if not known:
            return None
        after = sum(one.cost_after for one in known)
        return sum(one.cost or 0.0 for one in known) - after, after

    @property
    def outliers(self) -> list[AgentFacts]:
        """Sessions with many corrections and no deliverable."""
        return [one for one in self.agents if one.is_outlier]

    @property
    def heeded(self) -> tuple[int, int]:
        """How many corrections were heeded, of how many whose outcome is known."""
        count = Counter(outcome for one in self.agents for outcome in one.outcomes)
        yes = count[CorrectionOutcome.HEEDED.value]
        return yes, yes + sum(count[name] for name in _NOT_HEEDED)

    @property
    def turns_to_heed(self) -> float | None:
        """The median of the turns until a correction was heeded."""
        turns = sorted(turn for one in self.agents for turn in one.turns_to_heed)
        return float(turns[len(turns) // 2]) if turns else None

    @property
    def capped(self) -> int:
        """Sessions that ended by a limit of turns."""
        return sum(one.ended_by_cap for one in self.agents)

    @property
    def _priced(self) -> bool:
        return any(one.cost is not None for one in self.agents)

    def as_json(self) -> dict[str, Any]:
        """Return the public shape: keys are added, never changed or taken away."""
        heeded, known = self.heeded
        corrected = [one for one in self.agents if one.tiers]
        before, after = self.cost or (0.0, 0.0)
        return {
            "agents": len(self.agents),
            "corrected_agents": len(corrected),
            "wall_clock_seconds": round(self.wall_clock, 3),
            "corrections": self.corrections,
            "would_be_recordings": self.would_be,
            "by_tier": {tier.label: count for tier, count in self.by_tier.items()},
            "by_detector": dict(self.by_detector),
            "drifters": [
                {"agent": agent, "corrections": count, "max_tier": Tier(tier).label}
                for agent, count, tier in self.drifters
            ],
            "by_category": [
                {
                    "category": category,
                    "agents": agents,
                    "corrections": count,
                    "max_tier": Tier(tier).label,
                }
                for category, agents, count, tier in self.by_category
            ],
            "outliers": [
                {"session": one.session, "agent": one.agent, "corrections": len(one.tiers)}
                for one in self.outliers
            ],
            "heeded": heeded,
            "outcomes_known": known,
            "median_turns_to_heed": self.turns_to_heed,
            "turns": sum(one.turns for one in self.agents),
            "tokens": sum(one.tokens for one in self.agents),
            "turns_before_first_correction": sum(o.turns - o.turns_after for o in corrected),
            "turns_after_first_correction": sum(one.turns_after for one in corrected),
            "tokens_before_first_correction": sum(o.tokens - o.tokens_after for o in corrected),
            "tokens_after_first_correction": sum(one.tokens_after for one in corrected),
            "cost_usd": _rounded(sum(one.cost or 0.0 for one in self.agents), known=self._priced),
            "cost_usd_before_first_correction": _rounded(before, known=self.cost is not None),
            "cost_usd_after_first_correction": _rounded(after, known=self.cost is not None),
            "drift_checks": self.checks,
            "drift_checks_cost_usd": _rounded(self.checks_cost, known=bool(self.checks)),
            "ended_by_cap": self.capped,
            "errors": list(self.errors),
        }


def _rounded(usd: float, *, known: bool) -> float | None:
    return round(usd, 6) if known else None
