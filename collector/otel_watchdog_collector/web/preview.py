"""What other settings would have made of the last days, from what agents did."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from otel_watchdog.config import WatchdogConfig
from otel_watchdog.engine import Watchdog
from otel_watchdog.model import Finding, Mode, Observation, Tier
from otel_watchdog_collector.facts import Table
from otel_watchdog_collector.observed import observation_of
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.web.rows import rows

DAYS: Final = 7
MAX_PARTS: Final = 20_000
"""Rows of observations that are read, the latest."""

MAX_OBSERVATIONS: Final = 200_000
"""Observations that are judged."""


class Count(NamedTuple):
    """How often something happened."""

    name: str
    now: int
    """With the settings as they are."""
    then: int
    """With those that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What other settings would have made of it."""

    now: int
    """Corrections with the settings as they are."""
    then: int
    by_detector: Sequence[Count]
    by_tier: Sequence[Count]
    sessions: int
    observations: int
    is_cut: bool
    """Whether there is more than was judged."""


def preview(
    store: Store, tenant: str, since: float, now: WatchdogConfig, then: WatchdogConfig
) -> Preview:
    """Judge what agents did, twice. As in a replay, each correction counts as given.

    Args:
        store: Where it is kept.
        tenant: Whose agents.
        since: From when on.
        now: Settings as they are.
        then: Those that are tried.

    Raises:
        ConfigError: A detector, policy or option is wrong.
    """
    sessions, is_cut = _sessions(store, tenant, since)
    first, second = _Judge(now), _Judge(then)
    for observations in sessions.values():
        for observation in observations:
            first.observe(observation)
            second.observe(observation)
    tiers = [tier.label for tier in Tier]
    return Preview(
        now=first.tiers.total(),
        then=second.tiers.total(),
        by_detector=_counts(first.detectors, second.detectors),
        by_tier=[Count(tier, first.tiers[tier], second.tiers[tier]) for tier in tiers],
        sessions=len(sessions),
        observations=sum(map(len, sessions.values())),
        is_cut=is_cut,
    )


class _Judge:
    """An engine whose corrections are counted."""

    def __init__(self, config: WatchdogConfig) -> None:
        self.detectors: Counter[str] = Counter()
        self.tiers: Counter[str] = Counter()
        self._engine = Watchdog(
            config=config.model_copy(update={"mode": Mode.OBSERVE}),
            on_finding=self._find,
            on_error=lambda _, __: None,
        )

    def observe(self, observation: Observation) -> None:
        correction = self._engine.observe(observation)
        if correction is not None:
            self.tiers[correction.tier.label] += 1

    def _find(self, finding: Finding, _: Observation) -> None:
        self.detectors[finding.detector] += 1


def _sessions(
    store: Store, tenant: str, since: float
) -> tuple[Mapping[str, Sequence[Observation]], bool]:
    """Return what each session did, in order, and whether that is not all of it."""
    parts = list(rows(store, Table.OBSERVATIONS, tenant, since=since, most=MAX_PARTS))
    seen: dict[str, dict[int, tuple[str, Mapping[str, Any]]]] = defaultdict(dict)
    total = 0
    for part in parts:
        fields = part.fields
        total += len(fields["observations"])
        if total > MAX_OBSERVATIONS:
            break
        for one in fields["observations"]:
            seen[fields["session"]][one["n"]] = (fields["run"], one)
    found = {
        session: [
            observation_of({name: one[name] for name in one if name != "n"}, session, run)
            for _, (run, one) in sorted(own.items())
        ]
        for session, own in seen.items()
    }
    return found, total > MAX_OBSERVATIONS or len(parts) == MAX_PARTS


def _counts(now: Counter[str], then: Counter[str]) -> list[Count]:
    names = sorted(now.keys() | then.keys(), key=lambda name: (-then[name], name))
    return [Count(name, now[name], then[name]) for name in names]
