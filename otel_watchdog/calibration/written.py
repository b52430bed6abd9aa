"""A calibration as a file of settings with its evidence, and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from otel_watchdog.calibration import bounds
from otel_watchdog.calibration.choice import Calibration
from otel_watchdog.calibration.levels import FACTORS, OFF, thresholds_of
from otel_watchdog.config import WatchdogConfig

_WIDTH: Final = 96


def as_yaml(made: Calibration, begun: WatchdogConfig, given: Mapping[str, Any]) -> str:
    """Return a file of settings, the evidence in its comments.

    Args:
        made: A calibration that found settings.
        begun: The settings that were begun with.
        given: What stood in their file.

    Raises:
        ValueError: It found none.
    """
    if made.config is None:
        raise ValueError("no settings keep the promise")
    kept: dict[str, Any] = {
        name: value for name, value in given.items() if name not in {"detectors", "profile"}
    }
    kept = {"profile": made.config.profile.value} | kept
    for limit in ("warn_limit", "critical_limit"):
        if getattr(made.config, limit) != getattr(begun, limit):
            kept[limit] = getattr(made.config, limit)
    lines = [f"# {line}" for line in statement(made)]
    lines += ["", yaml.safe_dump(kept, sort_keys=False, allow_unicode=True).rstrip()]
    if made.config.detectors:
        lines += ["detectors:", *_detectors(made, begun)]
    return "\n".join(lines) + "\n"


def statement(made: Calibration) -> Iterator[str]:
    """Yield what is promised and on what evidence, in lines for a comment or a terminal."""
    promise = made.promise
    upcoming = promise.next_runs
    whose = "all good runs" if upcoming is None else f"the next {upcoming} good runs"
    if made.config is None or made.chosen is None:
        yield f"No promise can be given for {whose} like these {made.runs}."
        yield from _why_not(made)
        return
    step = made.steps[made.chosen]
    yield (
        f"Of {whose} like these {made.runs}, at most {_share(promise.warned)} will be warned and "
        f"at most {_share(promise.halted)} halted, with {_share(promise.confidence)} confidence."
    )
    learned = f"; {made.learned_from} others chose the direction" if made.learned_from else ""
    yield (
        f"Warned: {step.warned} of {made.tested_on} test runs, {made.allowed} would have been "
        f"allowed{learned}."
    )
    if promise.next_runs is None:
        bound = bounds.upper_bound(step.warned, made.tested_on, made.confidence_warned)
        yield (
            f"        That rules out more than {_share(bound)} with "
            f"{_share(made.confidence_warned)} confidence (Clopper-Pearson)."
        )
    else:
        yield "        The bound is that of split conformal prediction."
    if made.confidence_halted is None:
        yield (
            "Halted: none can be, as no correction goes beyond force-wrap: to prove that halts are "
            f"this rare takes {_needed(made.needed_to_halt)} good runs."
        )
    else:
        yield (
            f"Halted: {step.halted} of {made.tested_on}, {made.allowed_halted} would have been "
            f"allowed, with {_share(made.confidence_halted)} confidence."
        )
    yield (
        "It holds for runs of the same agents, tools, tasks and models, none left out for how it "
        "went. Calibrate anew when these change."
    )


def as_json(made: Calibration, begun: WatchdogConfig) -> dict[str, Any]:
    """Return all figures; keys are added, never changed or taken away."""
    promise = made.promise
    step = made.steps[made.chosen] if made.chosen is not None else None
    after = thresholds_of(made.config) if made.config is not None else {}
    before = thresholds_of(begun)
    return {
        "promise": {
            "warned": promise.warned,
            "halted": promise.halted,
            "confidence": promise.confidence,
            "next_runs": promise.next_runs,
            "given": made.config is not None,
            "halts_possible": made.confidence_halted is not None,
        },
        "runs": made.runs,
        "learned_from": made.learned_from,
        "tested_on": made.tested_on,
        "allowed_warned": made.allowed,
        "allowed_halted": made.allowed_halted,
        "warned": step.warned if step else None,
        "halted": step.halted if step else None,
        "needed_runs": made.needed,
        "needed_runs_to_halt": made.needed_to_halt,
        "steps": [
            {"warned": one.warned, "halted": one.halted, "levels": dict(one.levels)}
            for one in made.steps
        ],
        "detectors": [
            {
                "name": name,
                "level": made.levels.get(name, 0) if made.config else None,
                "thresholds": thresholds,
                "chosen_thresholds": after.get(name) if made.config else None,
                "found_in": made.found.get(name, 0),
                "found_in_after": made.found_after.get(name, 0) if made.config else None,
            }
            for name, thresholds in before.items()
        ],
    }


def _detectors(made: Calibration, begun: WatchdogConfig) -> Iterator[str]:
    assert made.config is not None  # noqa: S101 - as_yaml has looked
    for name, options in made.config.detectors.items():
        level = made.levels.get(name, 0)
        before, after = made.found.get(name, 0), made.found_after.get(name, 0)
        how = "as it was"
        if options is False and level == OFF:
            how = "off: no patience was enough"
        elif options is False and level:
            how = f"off: there is no room in its window for times {FACTORS[level]:g}"
        elif level:
            was = thresholds_of(begun).get(name, {})
            how = f"times {FACTORS[level]:g}, from {', '.join(str(n) for n in was.values())}"
        yield f"  # {how}; found in {before} of {made.runs} good runs, now in {after}"
        dumped = yaml.safe_dump({name: options}, sort_keys=False, width=_WIDTH).rstrip()
        yield from (f"  {line}" for line in dumped.split("\n"))


def _why_not(made: Calibration) -> Iterator[str]:
    if made.allowed is None:
        yield (
            f"There are too few: it takes {_needed(made.needed)}, none of them warned; "
            "more where some are."
        )
        return
    first = made.steps[0]
    yield f"Even the most patient settings warn {first.warned}; {made.allowed} would be allowed."


def _needed(runs: int | None) -> str:
    return f"more than {bounds.MAX_NEEDED:,}" if runs is None else f"at least {runs}"


def _share(value: float) -> str:
    """Return a share in per cent, rounded up where it is a bound.

    >>> _share(0.02), _share(0.975), _share(0.0199)
    ('2 %', '97.5 %', '1.99 %')
    """
    return f"{round(value * 100, 2):g} %"
