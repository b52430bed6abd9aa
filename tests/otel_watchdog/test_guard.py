"""Detectors that raise: counted, switched off, and the rest go on."""

import pytest

from otel_watchdog import (
    RepeatedToolCall,
)
from tests.otel_watchdog.engine_cases import Always, Broken, call, loop, watch


def test_a_detector_that_raises_is_switched_off_and_the_rest_go_on():
    """Three errors in all sessions together; open and new sessions go on without it."""
    errors = []
    watchdog = watch(
        Broken(),
        RepeatedToolCall(threshold=3),
        on_error=lambda name, error: errors.append((name, str(error))),
    )
    for session in ("a", "b"):
        watchdog.observe(call(1, session=session))
        watchdog.observe(call(2, session=session))

    third = watchdog.observe(call(3, session="a"))
    new = loop(watchdog, 3, session="c")

    assert errors == [("broken", "broken")] * 3
    assert third is not None
    assert len(new) == 1


def test_a_detector_that_raises_on_restart_is_counted_too():
    """Nothing raises out of a lease: an adapter calls it inside the traced program."""
    errors = []
    watchdog = watch(Broken(at="restart"), Always(), on_error=lambda name, _: errors.append(name))
    found = []

    for turn in range(1, 6):
        correction = watchdog.observe(call(turn))
        watchdog.lease(correction)
        watchdog.claim(correction)
        found.append(correction.n)

    assert errors == ["broken"] * 3
    assert found == [1, 2, 3, 4, 5]


def test_without_a_listener_an_error_comes_through():
    """Who uses the engine by itself sees what went wrong."""
    watchdog = watch(Broken())

    with pytest.raises(RuntimeError, match="broken"):
        watchdog.observe(call(1))
