"""The facts: names that stand on spans, and that nobody can change them."""

import dataclasses

import pytest

from otel_watchdog import Mode, Severity, Tier, ToolCall
from otel_watchdog.testing import correction, finding


def test_tiers_are_named_and_ordered():
    """Mildest first; the words stand in span names."""
    assert [tier.label for tier in sorted(Tier)] == [
        "nudge",
        "redirect",
        "force-wrap",
        "hard-stop",
        "terminate",
    ]
    assert [int(tier) for tier in Tier] == [1, 2, 3, 4, 5]


def test_each_mode_includes_the_ones_before():
    """So that modes can be compared."""
    assert [mode.label for mode in sorted(Mode)] == ["off", "observe", "feedback", "enforce"]


@pytest.mark.parametrize(
    ("mode", "tier", "name"),
    [
        (Mode.FEEDBACK, Tier.NUDGE, "watchdog-nudge-turn-20"),
        (Mode.ENFORCE, Tier.FORCE_WRAP, "watchdog-force-wrap-turn-20"),
        (Mode.OBSERVE, Tier.TERMINATE, "watchdog-terminate-turn-20-observed"),
    ],
)
def test_a_correction_names_its_span(mode, tier, name):
    """What was only observed shows it."""
    assert correction(mode=mode, tier=tier, turn=20).span_name == name


def test_the_first_finding_speaks():
    """The others are evidence."""
    first, second = finding(), finding(severity=Severity.WARN)

    spoken = dataclasses.replace(correction(), findings=(first, second)).finding

    assert spoken is first


@pytest.mark.parametrize(
    ("fact", "name"),
    [(finding(), "reason"), (correction(), "tier"), (ToolCall("s", 1, "ls"), "name")],
)
def test_facts_are_frozen(fact, name):
    """They pass between threads."""
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
        setattr(fact, name, None)


def test_what_is_not_captured_is_none():
    """Unknown is a value, and not an empty one."""
    call = ToolCall("s", 1, "ls")

    assert (call.arguments, call.call_id, call.time) == (None, None, None)
