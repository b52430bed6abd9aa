"""The detector alone, in an engine by hand, and found by its entry point."""

import pytest
from budget_detector import TokenBudget

from otel_watchdog import ConfigError, ModelTurn, RunStarted, Watchdog, registry
from otel_watchdog.progress import Progress


def turn(number, tokens):
    """Return a turn that wrote so many tokens."""
    return ModelTurn(session="s", turn=number, output_tokens=tokens)


def test_fires_once_a_run_and_again_in_the_next():
    """It is said once."""
    detector, progress = TokenBudget(max_output_tokens=100), Progress()
    used = [turn(1, 60), turn(2, 60), turn(3, 60), RunStarted("s", "r2"), turn(1, 101)]

    found = [detector.observe(one, progress) is not None for one in used]

    assert found == [False, True, False, False, True]


def test_leaves_honest_work_alone():
    """Also where the trace does not say what was used."""
    detector, progress = TokenBudget(max_output_tokens=100), Progress()

    assert all(detector.observe(turn(n, None), progress) is None for n in range(1, 50))


def test_works_in_an_engine_by_hand():
    """No span processor, no OpenTelemetry: observations in, corrections out."""
    watchdog = Watchdog(detectors=[TokenBudget(max_output_tokens=100)])

    corrections = [watchdog.observe(turn(n, 60)) for n in (1, 2)]

    assert corrections[0] is None
    assert corrections[1].finding.detector == "token_budget"
    assert corrections[1].message.startswith("[watchdog] ")


def test_is_found_by_its_entry_point():
    """Once the package is installed."""
    assert registry.find("detectors", "token_budget") is TokenBudget


def test_refuses_a_budget_of_nothing():
    """As built-in detectors do."""
    with pytest.raises(ConfigError, match=r"token_budget\.max_output_tokens"):
        TokenBudget(max_output_tokens=0)
