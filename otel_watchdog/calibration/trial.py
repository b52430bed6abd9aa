"""What settings make of good runs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from otel_watchdog import replay
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.model import Mode, Observation, Tier
from otel_watchdog.replay import Observed, ReplayedRun
from otel_watchdog.replay.delivery import Delivery


class Tried(NamedTuple):
    """What one setting makes of one run."""

    warned: frozenset[str] = frozenset()
    """Detectors that corrections spoke of; none: it was not corrected."""
    halted: bool = False
    """Whether a correction would have ended it."""
    found: frozenset[str] = frozenset()
    """Detectors that found something, corrected or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodRun:
    """One run that ended well."""

    id: str
    first: Tried
    """What the settings make of it that were begun with."""
    observations: Sequence[Observation] = ()
    """In order; left out where nothing was found, as patience finds no more."""

    def at(self, config: WatchdogConfig) -> Tried:
        """Return what settings make of it that are as patient as the first, or more."""
        return tried(self.observations, config) if self.observations else Tried()


def enforcing(config: WatchdogConfig) -> WatchdogConfig:
    """Return settings under which everything that may be done is done."""
    return config.model_copy(update={"mode": Mode.ENFORCE})


def read(
    path: str | Path | BinaryIO,
    config: WatchdogConfig,
    *,
    on_read: Callable[[int], None] | None = None,
    on_error: Callable[[str], None] | None = None,
) -> Iterator[GoodRun]:
    """Yield the good runs of a recording: runs of observation lines, sessions of a trace.

    Args:
        path: As for `replay.read`.
        config: The settings to begin with.
        on_read: Called with the number of bytes just read.
        on_error: Called with what could not be read in a run, a line each.

    Raises:
        InputError: The recording cannot be read.
    """
    for run in replay.read(path, config=enforcing(config), on_read=on_read):
        for error in run.errors:
            if on_error is not None:
                on_error(f"{run.id}: {error}")
        yield from _parts(run)


def _parts(run: ReplayedRun) -> Iterator[GoodRun]:
    owners = {session.id: owner_of(session.id, run) for session in run.sessions}
    by_owner: dict[str, list[Observed]] = {owner: [] for owner in owners.values()}
    for seen in run.observations:
        by_owner[owners[seen.session]].append(seen)
    found = {owners[one.session] for one in run.findings}
    for owner, observed in by_owner.items():
        given = [one.correction for one in run.corrections if owners[one.session] == owner]
        first = Tried(
            frozenset(one.finding.detector for one in given),
            any(one.tier >= Tier.HARD_STOP for one in given),
            frozenset(one.finding.detector for one in run.findings if owners[one.session] == owner),
        )
        kept = [one.observation for one in observed] if owner in found else []
        yield GoodRun(id=owner, first=first, observations=kept)


def owner_of(session: str, run: ReplayedRun) -> str:
    """Return the run that a session belongs to: agents that work together are one run."""
    if session == run.id or session.startswith(f"{run.id}/"):
        return run.id
    for other in run.sessions:
        if session.startswith(f"{other.id}/"):
            return other.id
    return session


def tried(observations: Iterable[Observation], config: WatchdogConfig) -> Tried:
    """Return what settings make of a run, each correction given at its next turn."""
    found: set[str] = set()
    engine = Delivery(enforcing(config), None, None)
    engine.start(
        on_finding=lambda finding, _: found.add(finding.detector),
        on_outcome=_ignore,
        on_suppressed=_ignore,
        on_error=_ignore,
        on_check=_ignore,
    )
    warned: set[str] = set()
    halted = False
    for observation in observations:
        correction = engine.observe(observation)
        if correction is not None:
            warned.add(correction.finding.detector)
            halted = halted or correction.tier >= Tier.HARD_STOP
    return Tried(frozenset(warned), halted, frozenset(found))


def _ignore(*_: object) -> None:
    """Listen to nothing."""


def found_by_detector(runs: Iterable[GoodRun], config: WatchdogConfig) -> Mapping[str, int]:
    """Return in how many runs each detector finds something, corrected or not."""
    counts: Counter[str] = Counter()
    for run in runs:
        counts.update(run.at(config).found)
    return counts
