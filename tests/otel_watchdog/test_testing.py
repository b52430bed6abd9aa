"""The fakes that we give to others."""

import pytest

from otel_watchdog import Correction, Finding, Mode, Severity, Tier
from otel_watchdog.clock import system_clock
from otel_watchdog.testing import FakeClock, correction, finding, reraise


def test_a_fake_clock_moves_when_told_to():
    """And only then."""
    clock = FakeClock()

    before = clock(), clock()
    clock.advance(1.5)
    clock.advance(0.5)

    assert before == (0.0, 0.0)
    assert clock() == 2.0


def test_the_real_clock_never_goes_backwards():
    """It is the process's monotonic one."""
    first, second = system_clock(), system_clock()

    assert second >= first


def test_facts_are_plausible_and_can_be_told_otherwise():
    """What a test does not name is filled in."""
    made = correction(tier=Tier.TERMINATE, mode=Mode.ENFORCE, max_turns=8)

    assert isinstance(made, Correction)
    assert (made.tier, made.mode, made.max_turns) == (Tier.TERMINATE, Mode.ENFORCE, 8)
    assert made.message.startswith("[watchdog]")
    assert isinstance(made.finding, Finding)
    assert finding(severity=Severity.WARN).severity is Severity.WARN


def test_reraise_lets_an_internal_error_through():
    """So that a test fails where production goes on."""
    error = RuntimeError("ours")

    with pytest.raises(RuntimeError) as raised:
        reraise("on_end", error)

    assert raised.value is error
