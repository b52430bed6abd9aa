"""Detectors and policies by name, with options that are checked before anything runs."""

from typing import Any

import pytest

from otel_watchdog import ConfigError, Profile, Watchdog, WatchdogConfig
from otel_watchdog.assembly import detectors_of, policy_of
from otel_watchdog.policies import Ladder, Spaced


def names(config, **options):
    """Return the names of the detectors that settings ask for."""
    return [detector.name for detector in detectors_of(config, **options)]


def test_without_settings_they_are_the_profiles():
    """In its order, with its options."""
    classic = names(WatchdogConfig(profile=Profile.CLASSIC))

    assert classic[:2] == ["repeated_tool_call", "tool_call_cycle"]
    assert len(classic) == 8


def test_false_leaves_out_and_true_adds():
    """What is added comes last."""
    config = WatchdogConfig(
        profile=Profile.CLASSIC, detectors={"no_op_streak": False, "same_error": True}
    )

    found = names(config)

    assert "no_op_streak" not in found
    assert found[-1] == "same_error"


def test_options_go_on_top_of_the_profiles():
    """Those that are not named stay what the profile has."""
    config = WatchdogConfig(detectors={"tool_failure_streak": {"critical_threshold": 9}})

    detector: Any = next(d for d in detectors_of(config) if d.name == "tool_failure_streak")

    assert (detector._threshold, detector._critical_threshold) == (5, 9)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("detectors:\n  same_errors: {}\n", 2, "no 'same_errors'; allowed: "),
        ("detectors:\n  same_error:\n    treshold: 3\n", 3, "did you mean threshold?"),
        ("detectors:\n  same_error:\n    threshold: true\n", 3, "must be a whole number, got True"),
        ("detectors:\n  same_error:\n    threshold: '3'\n", 3, "must be a whole number, got '3'"),
        ("detectors:\n  same_error:\n    threshold: 1\n", 2, "must be at least 2, got 1"),
        ("policy:\n  lader: {}\n", 2, "did you mean ladder?"),
        ("policy: lader\n", 1, "did you mean ladder?"),
        ("policy:\n  ladder:\n    step_down: 1\n", 3, "must be true or false, got 1"),
        ("policy:\n  ladder:\n    warn_limit: gently\n", 2, "must be one of nudge"),
        ("tools:\n  a:\n    detectors:\n      same_eror: {}\n", 4, "did you mean same_error?"),
        ("agents:\n  a:\n    detectors:\n      same_error:\n        x: 1\n", 5, "x is no option"),
        (
            "tools:\n  a:\n    detectors:\n      same_error:\n        threshold: 1.5\n",
            5,
            "must be a whole number, got 1.5",
        ),
    ],
)
def test_what_is_wrong_fails_at_start_and_points_at_its_line(tmp_path, text, line, said):
    """Before the first span."""
    file = tmp_path / "w.yaml"
    file.write_text(text)
    config = WatchdogConfig.load(file)

    with pytest.raises(ConfigError) as raised:
        Watchdog(config=config)

    assert str(raised.value).startswith(f"{file}: line {line}: ")
    assert said in str(raised.value)


def test_the_policy_takes_the_general_settings_and_its_own_options():
    """Its own win."""
    config = WatchdogConfig(
        refractory_turns=7, max_corrections=3, policy={"ladder": {"max_corrections": 2}}
    )

    ladder = policy_of(config)

    assert isinstance(ladder, Ladder)
    assert (ladder._refractory_turns, ladder._max_corrections) == (7, 2)
    assert isinstance(policy_of(WatchdogConfig(policy="spaced")), Spaced)


def test_an_agents_own_options_come_last():
    """On top of the general ones."""
    config = WatchdogConfig.load(
        detectors={"same_error": {"threshold": 6, "critical_threshold": 8}},
        agents={"x*": {"detectors": {"same_error": {"threshold": 7}, "known_lines": False}}},
    )

    own = {detector.name: detector for detector in detectors_of(config, agents="x*")}

    same_error: Any = own["same_error"]
    assert (same_error._threshold, same_error._critical_threshold) == (7, 8)
    assert "known_lines" not in own
    assert "known_lines" in names(config)
