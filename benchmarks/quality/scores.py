"""Shows runs to the watchdog as `otel-watchdog replay` does, and counts where it was right."""

import io
import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.quality.runs import LabelledRun
from otel_watchdog import Severity, WatchdogConfig, replay
from otel_watchdog.detectors import Detector
from otel_watchdog.judges import Judge
from otel_watchdog.model import Tier

Z = 1.96
"""Of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the watchdog made of a run: indices of events, in order."""

    run: LabelledRun
    corrections: tuple[int, ...]
    """Where it would have corrected."""
    critical: tuple[int, ...]
    """Where it found something critical."""
    findings: tuple[tuple[int, str, str, str], ...]
    """Event, detector, kind and severity of each finding."""
    is_halted: bool = False
    """Whether it would have ended the run."""
    questions: int = 0
    """How often a judge was asked."""

    def fired_at(self, grade: str) -> int | None:
        """Return the first event judged at which it fired; `None` if it did not."""
        events = self.corrections if grade == "correction" else self.critical
        return next((event for event in events if event >= self.run.evaluate_from), None)

    def is_early(self, grade: str) -> bool:
        """Whether it fired before there was anything to find."""
        fired = self.fired_at(grade)
        return self.run.is_fire and fired is not None and fired < (self.run.onset or 0)

    def is_hit(self, grade: str) -> bool:
        """Whether it found what was to be found, not too early and not too late."""
        fired = self.fired_at(grade)
        if not self.run.is_fire or fired is None or self.is_early(grade):
            return False
        return self.run.fire_by is None or fired <= self.run.fire_by

    def names_kind(self) -> bool:
        """Whether one of the findings until the hit names the fault."""
        last = self.run.fire_by if self.run.fire_by is not None else math.inf
        return any(
            kind in self.run.accepts
            for event, _, kind, _ in self.findings
            if self.run.evaluate_from <= event <= last
        )


def judge(
    runs: Sequence[LabelledRun],
    *,
    detectors: Sequence[Detector] | None = None,
    config: WatchdogConfig | None = None,
    reader: Judge | None = None,
) -> list[Verdict]:
    """Show runs to the watchdog, each its own session, and return what came of each."""
    text = "\n".join(
        json.dumps({"id": str(i), "events": list(run.events)}) for i, run in enumerate(runs)
    )
    replayed = replay.read(
        io.BytesIO(text.encode()),
        config=config or WatchdogConfig(),
        detectors=detectors,
        judge=reader,
        keep_observations=False,
    )
    verdicts = []
    for run, told in zip(runs, replayed, strict=True):
        if told.errors:
            raise RuntimeError(f"{run.id}: {told.errors}")
        found = tuple(
            (
                one.event,
                one.finding.detector,
                one.finding.kind.value,
                one.finding.severity.value,
            )
            for one in told.findings
        )
        critical = Severity.CRITICAL.value
        verdicts.append(
            Verdict(
                run,
                tuple(given.event for given in told.corrections),
                tuple(one[0] for one in found if one[3] == critical),
                found,
                any(given.correction.tier >= Tier.HARD_STOP for given in told.corrections),
                len(told.checks),
            )
        )
    return verdicts


@dataclass(slots=True)
class Score:
    """Counts over runs; a fire before the onset is a false one, and no hit."""

    hits: int = 0
    fires: int = 0
    false: int = 0
    quiets: int = 0
    early: int = 0
    borderline_fired: int = 0
    borderlines: int = 0
    delays: list[int] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of the runs to be found that were."""
        return self.hits / self.fires if self.fires else math.nan

    @property
    def false_rate(self) -> float:
        """Share of the quiet runs that were not."""
        return self.false / self.quiets if self.quiets else math.nan

    @property
    def precision(self) -> float:
        """Share of the runs that fired which were right."""
        said = self.hits + self.false + self.early
        return self.hits / said if said else math.nan

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = 2 * self.hits + self.false + self.early + (self.fires - self.hits)
        return 2 * self.hits / both if both else math.nan

    def as_json(self) -> dict[str, Any]:
        """Return all figures, with 95 % intervals."""
        return {
            "fires": self.fires,
            "hits": self.hits,
            "recall": self.recall,
            "recall_interval": wilson(self.hits, self.fires),
            "quiets": self.quiets,
            "false": self.false,
            "false_rate": self.false_rate,
            "false_rate_interval": wilson(self.false, self.quiets),
            "early": self.early,
            "precision": self.precision,
            "precision_interval": wilson(self.hits, self.hits + self.false + self.early),
            "f1": self.f1,
            "delay_median_turns": statistics.median(self.delays) if self.delays else None,
            "borderline_fired": self.borderline_fired,
            "borderlines": self.borderlines,
        }


def score(verdicts: Iterable[Verdict], grade: str = "correction") -> Score:
    """Count where the watchdog was right.

    Args:
        verdicts: What it made of each run.
        grade: `correction` or `critical`: what counts as having fired.
    """
    total = Score()
    for verdict in verdicts:
        fired = verdict.fired_at(grade)
        if verdict.run.is_fire:
            total.fires += 1
            total.hits += verdict.is_hit(grade)
            total.early += verdict.is_early(grade)
            delay = _delay(verdict, fired)
            if delay is not None:
                total.delays.append(delay)
        elif verdict.run.expect == "quiet":
            total.quiets += 1
            total.false += fired is not None
        elif verdict.run.expect == "borderline":
            total.borderlines += 1
            total.borderline_fired += fired is not None
    return total


def alarms(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Any]]:
    """Return how many runs were warned and halted: unlabelled ones, and solved ones."""
    told = {}
    for which, some in (
        ("unlabelled", [one for one in verdicts if one.run.expect == "unlabelled"]),
        ("solved", [one for one in verdicts if one.run.is_solved]),
    ):
        if some:
            told[which] = {
                "warned": _share([one.fired_at("correction") is not None for one in some]),
                "halted": _share([one.is_halted for one in some]),
            }
    return told


def _share(said: Sequence[bool]) -> dict[str, Any]:
    count, runs = sum(said), len(said)
    interval = wilson(count, runs)
    return {"count": count, "runs": runs, "share": count / runs, "interval": interval}


def _delay(verdict: Verdict, fired: int | None) -> int | None:
    """Return the turns between when it could first be told and when it was."""
    run = verdict.run
    if fired is None or not verdict.is_hit("correction"):
        return None
    at = run.events[fired].get("turn") or 0
    if run.onset is not None:
        return int(at - (run.events[run.onset].get("turn") or 0))
    return None if run.fire_by_turn is None else int(at - run.fire_by_turn)


def wilson(count: int, total: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a share after Wilson; `None` of nothing.

    >>> wilson(0, 65)
    (0.0, 0.0558)
    """
    if not total:
        return None
    share = count / total
    middle = share + Z * Z / (2 * total)
    spread = Z * math.sqrt(share * (1 - share) / total + Z * Z / (4 * total * total))
    scale = 1 + Z * Z / total
    low, high = (middle - spread) / scale, (middle + spread) / scale
    return (round(max(0.0, low), 4), round(min(1.0, high), 4))
