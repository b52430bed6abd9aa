"""Chooses the least patient settings that keep a promise: learns a way, then tests along it."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from otel_watchdog.calibration import bounds
from otel_watchdog.calibration.bounds import Promise
from otel_watchdog.calibration.levels import OFF, settings_at, thresholds_of
from otel_watchdog.calibration.trial import GoodRun, Tried, found_by_detector
from otel_watchdog.config import WatchdogConfig

LEARN_SHARE: Final = 0.25
"""Of the runs, from which it is learned which detectors need more patience."""

SEED: Final = 20_260_101
"""Which runs those are is drawn by lot, the same for the same runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One setting on the way, from the most patient to the least."""

    levels: Mapping[str, int]
    """Of each detector; `OFF`: it is not asked."""
    warned: int
    """Test runs that it, or one more patient, corrects."""
    halted: int
    """Test runs that it, or one more patient, ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What was chosen, and on what evidence."""

    promise: Promise
    config: WatchdogConfig | None
    """The settings; `None`: none keep the promise."""
    levels: Mapping[str, int]
    runs: int
    """Good runs in all."""
    learned_from: int
    tested_on: int
    confidence_warned: float
    """That the bound on warned runs holds."""
    confidence_halted: float | None
    """That the bound on halted runs holds; `None`: nothing is ever halted, which needs none."""
    allowed: int | None
    """Test runs that may be warned; `None`: too few runs for any promise."""
    allowed_halted: int | None
    steps: Sequence[Step]
    """All that was tried, the most patient first."""
    chosen: int | None
    """Which of them it is."""
    needed: int | None
    """Runs that the promise takes at least, if none of them is warned."""
    needed_to_halt: int | None
    found: Mapping[str, int]
    """By detector: good runs in which the settings that were begun with find something."""
    found_after: Mapping[str, int]
    """The same with the chosen settings."""


def calibrate(
    runs: Sequence[GoodRun],
    config: WatchdogConfig,
    promise: Promise,
    *,
    on_step: Callable[[], None] | None = None,
) -> Calibration:
    """Choose the least patient settings that keep a promise.

    From a part of the runs it is learned how patient each detector has to be to warn none of them;
    on the rest, settings around that are tried, from all off to those that were begun with, as long
    as the number of warned runs allows the promise. Where there are too few runs to learn from a
    part of them, all detectors are as patient as each other.

    Args:
        runs: Good runs, as `read` yields them for `config`.
        config: The settings to begin with; thresholds only rise.
        promise: What is to hold.
        on_step: Called after each setting that was tried.
    """
    doubt = 1 - promise.confidence
    halts_need = bounds.runs_needed(promise.halted, 1 - doubt / 2, next_runs=promise.next_runs)
    may_halt = halts_need is not None and len(runs) * (1 - LEARN_SHARE) >= halts_need
    confidence = 1 - doubt / 2 if may_halt else promise.confidence
    needed = bounds.runs_needed(promise.warned, confidence, next_runs=promise.next_runs)
    learn, test = _parted(runs, needed)
    allowed = bounds.most_allowed(len(test), promise.warned, confidence, promise.next_runs)
    allowed_halted = (
        bounds.most_allowed(len(test), promise.halted, 1 - doubt / 2, promise.next_runs)
        if may_halt
        else None
    )
    steps, chosen = _walk(test, config, path(config, learn), allowed, on_step)
    levels = steps[chosen].levels if chosen is not None else {}
    halts = (
        chosen is not None and allowed_halted is not None and steps[chosen].halted <= allowed_halted
    )
    settings = settings_at(config, levels) if chosen is not None else None
    if settings is not None and not halts:
        settings = settings.model_copy(update=without_halts(config))
    return Calibration(
        promise=promise,
        config=settings,
        levels=levels,
        runs=len(runs),
        learned_from=len(learn),
        tested_on=len(test),
        confidence_warned=confidence,
        confidence_halted=1 - doubt / 2 if halts else None,
        allowed=allowed,
        allowed_halted=allowed_halted,
        steps=steps,
        chosen=chosen,
        needed=needed,
        needed_to_halt=halts_need,
        found=found_by_detector(runs, config),
        found_after=found_by_detector(runs, settings) if settings is not None else {},
    )


def without_halts(config: WatchdogConfig) -> dict[str, str]:
    """Return the limits under which no run is ended, as far as they differ from `config`'s."""
    most = ("nudge", "redirect", "force-wrap")
    return {
        name: "force-wrap"
        for name in ("warn_limit", "critical_limit")
        if getattr(config, name) not in most
    }


def path(config: WatchdogConfig, learn: Sequence[GoodRun]) -> list[dict[str, int]]:
    """Return levels of all detectors, the most patient first: off, then less and less.

    Args:
        config: The settings to begin with.
        learn: Runs that none of which is warned by the detectors as patient as they are learned to
            be; from none, all are as patient as each other.
    """
    base = dict.fromkeys(thresholds_of(config), 0)
    for run in learn:
        for name in sorted(run.first.warned & base.keys()):
            while base[name] < OFF and name in run.at(settings_at(config, base)).warned:
                base[name] += 1
    steps = [
        {name: min(OFF, level + more) for name, level in base.items()}
        for more in range(OFF, -1, -1)
    ]
    if any(base.values()):
        steps.append(dict.fromkeys(base, 0))
    return steps


def _parted(runs: Sequence[GoodRun], needed: int | None) -> tuple[list[GoodRun], list[GoodRun]]:
    """Return the runs to learn from and to test on; how many depends on their number alone."""
    shuffled = list(runs)
    random.Random(SEED).shuffle(shuffled)  # noqa: S311 - by lot, not in secret
    size = int(len(shuffled) * LEARN_SHARE)
    if needed is None or len(shuffled) - size < needed:
        return [], shuffled
    return shuffled[:size], shuffled[size:]


def _walk(
    runs: Sequence[GoodRun],
    config: WatchdogConfig,
    steps: Sequence[Mapping[str, int]],
    allowed: int | None,
    on_step: Callable[[], None] | None,
) -> tuple[list[Step], int | None]:
    """Try settings, the most patient first, until too many runs are warned."""
    made: list[Step] = []
    chosen = None
    warned: set[int] = set()
    halted: set[int] = set()
    for place, levels in enumerate(steps):
        settings = settings_at(config, levels)
        is_first = not any(levels.values())
        for number, run in enumerate(runs):
            result: Tried = run.first if is_first else run.at(settings)
            if result.warned:
                warned.add(number)
            if result.halted:
                halted.add(number)
        made.append(Step(levels=levels, warned=len(warned), halted=len(halted)))
        if on_step is not None:
            on_step()
        if allowed is None or len(warned) > allowed:
            break
        chosen = place
    return made, chosen
