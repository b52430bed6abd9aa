"""Which settings are chosen from good runs, and that they keep what is promised."""

import math
import random
from typing import Any

import pytest
import yaml

from otel_watchdog import Profile, WatchdogConfig
from otel_watchdog.calibration import Promise, as_json, as_yaml, calibrate
from otel_watchdog.calibration.levels import FACTORS, OFF, settings_at, thresholds_of
from tests.otel_watchdog.calibration.good_runs import good, honest

CLASSIC = WatchdogConfig(profile=Profile.CLASSIC)
STANDARD = WatchdogConfig()


def test_quiet_runs_leave_the_settings_as_they_are():
    """200 of which none is warned allow 2 %, but no halts: that takes more."""
    made = calibrate(good(200, STANDARD), STANDARD, Promise())

    assert made.config is not None
    assert not any(made.levels.values())
    assert (made.allowed, made.steps[made.chosen or 0].warned) == (0, 0)
    assert made.config.critical_limit == "force-wrap"
    assert made.needed_to_halt == 736


def test_too_few_runs_promise_nothing_and_say_how_many_it_takes():
    """149, none of them warned."""
    made = calibrate(good(60, STANDARD), STANDARD, Promise())

    assert (made.config, made.allowed, made.needed) == (None, None, 149)


def test_with_enough_runs_halts_are_promised_too():
    """Then each of the two bounds has half of the doubt."""
    made = calibrate(good(100, STANDARD), STANDARD, Promise(warned=0.06, halted=0.05))

    assert made.config is not None
    assert made.config.critical_limit == "terminate"
    assert made.confidence_warned == made.confidence_halted == 0.975


def test_a_detector_that_warns_good_runs_becomes_patient_and_the_others_stay():
    """It is learned from a part of the runs which that is."""
    runs = good(160, CLASSIC, errors=24)
    assert sum(bool(run.first.warned) for run in runs) == 24

    made = calibrate(runs, CLASSIC, Promise(warned=0.03))

    assert made.config is not None
    changed = {name: level for name, level in made.levels.items() if level}
    assert changed == {"tool_failure_streak": 1}
    assert made.config.detectors == {"tool_failure_streak": {"threshold": 4}}
    assert (made.found["tool_failure_streak"], made.found_after.get("tool_failure_streak", 0)) == (
        24,
        0,
    )
    assert (made.learned_from, made.tested_on) == (40, 120)


def test_a_looser_promise_leaves_them_be():
    """A quarter may be warned, and fewer are."""
    made = calibrate(good(100, CLASSIC, errors=10), CLASSIC, Promise(warned=0.25))

    assert made.config is not None
    assert not any(made.levels.values())


def test_levels_only_rise():
    """Each is as patient as the one before, or more; what has no room in its window is off."""
    for level in range(OFF + 1):
        settings = settings_at(CLASSIC, dict.fromkeys(thresholds_of(CLASSIC), level))
        thresholds = thresholds_of(settings)
        for name, begun in thresholds_of(CLASSIC).items():
            if level == OFF:
                assert name not in thresholds
            elif name in thresholds:
                assert all(
                    thresholds[name][option] == math.ceil(value * FACTORS[level])
                    for option, value in begun.items()
                )


def test_what_finds_nothing_finds_nothing_with_more_patience():
    """So runs without findings need not be tried again: tried all the same, on honest work."""
    from otel_watchdog.calibration.trial import tried  # noqa: PLC0415

    everything = honest(STANDARD)
    empty = [run for run in everything if not run.observations]
    assert len(empty) > 60
    firmer = settings_at(STANDARD, dict.fromkeys(thresholds_of(STANDARD), 1))
    watched = honest(firmer)

    assert {run.id for run in empty} <= {run.id for run in watched if not run.observations}
    assert tried([], firmer).warned == frozenset()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_promises_are_kept_on_runs_that_were_not_seen():
    """Over 60 random halves, the share that breaks the bound is at most what it allows.

    Most of the honest work of suite and cases is warned by profile `classic` as it is.
    """
    share, splits = 0.15, 60
    runs: list[Any] = [_Remembered(run) for run in honest(CLASSIC)]
    assert sum(bool(run.first.warned) for run in runs) > len(runs) / 2
    randomness = random.Random(5)  # noqa: S311 - the same splits each time
    given = broken = 0
    for _ in range(splits):
        randomness.shuffle(runs)
        seen, unseen = runs[: len(runs) // 2], runs[len(runs) // 2 :]
        made = calibrate(seen, CLASSIC, Promise(warned=share, next_runs=len(unseen)))
        if made.config is None:
            continue
        given += 1
        warned = sum(bool(run.at(made.config).warned) for run in unseen)
        broken += warned > share * len(unseen)

    assert given == splits
    assert broken <= 0.05 * splits


class _Remembered:
    """A good run that remembers what settings make of it."""

    def __init__(self, run):
        self.run, self.first, self.observations = run, run.first, run.observations
        self._known = {}

    def at(self, config):
        key = repr((config.detectors, config.critical_limit))
        if key not in self._known:
            self._known[key] = self.run.at(config)
        return self._known[key]


def test_the_file_of_settings_loads_and_tells_its_evidence(tmp_path):
    """What stood in the file before stays; each detector says what was found."""
    begun = WatchdogConfig(profile=Profile.CLASSIC, refractory_turns=4)
    made = calibrate(good(160, begun, errors=24), begun, Promise(warned=0.03))
    file = tmp_path / "watchdog.yaml"

    file.write_text(as_yaml(made, begun, {"refractory_turns": 4}))

    text = file.read_text()
    assert "# Of all good runs like these 160, at most 3 % will be warned" in text
    assert "Clopper-Pearson" in text
    assert "# times 1.25, from 3; found in 24 of 160 good runs, now in 0" in text
    assert "no correction goes beyond force-wrap" in text
    loaded = WatchdogConfig.load(file)
    assert loaded.detectors == made.config.detectors if made.config else False
    assert (loaded.profile, loaded.refractory_turns) == (Profile.CLASSIC, 4)
    assert yaml.safe_load(text)["critical_limit"] == "force-wrap"


def test_the_figures_are_there_for_programs():
    """Also where no promise can be given."""
    few = as_json(calibrate(good(20, STANDARD), STANDARD, Promise()), STANDARD)
    many = as_json(calibrate(good(200, STANDARD), STANDARD, Promise()), STANDARD)

    assert (few["promise"]["given"], few["needed_runs"], few["warned"]) == (False, 149, None)
    assert (many["promise"]["given"], many["warned"], many["allowed_warned"]) == (True, 0, 0)
    assert {row["name"] for row in many["detectors"]} == set(thresholds_of(STANDARD))
