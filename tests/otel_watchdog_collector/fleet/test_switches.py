"""Kill switches only ever lower."""

import pytest

from otel_watchdog_collector.fleet import Switches
from otel_watchdog_collector.health import HealingMode


@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
def test_the_environment_lowers_at_once(value, monkeypatch):
    """Read at every decision, in every spelling."""
    switches = Switches()
    before = switches.lowered("t", HealingMode.HEAL)

    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", value)

    assert before is HealingMode.HEAL
    assert switches.lowered("t", HealingMode.HEAL) is HealingMode.OBSERVE
    assert switches.on("t") == ["environment"]


def test_a_file_lowers_while_it_is_there(tmp_path):
    """Whatever stands in it."""
    file = tmp_path / "pause"
    switches = Switches(file)

    before = switches.lowered("t", HealingMode.HEAL)
    file.touch()
    during = switches.lowered("t", HealingMode.HEAL)
    file.unlink()

    assert (before, during) == (HealingMode.HEAL, HealingMode.OBSERVE)
    assert switches.on("t") == []


def test_a_file_that_cannot_be_asked_counts_as_there(tmp_path):
    """In doubt, nothing is done."""
    too_long = tmp_path / ("x" * 5000)

    assert Switches(too_long).on("t") == ["file"]


def test_the_apis_switch_is_a_tenants_own():
    """And can be turned off again, which raises nothing."""
    switches = Switches(by_environment=lambda: False)
    switches.set("t", on=True)

    assert switches.lowered("t", HealingMode.HEAL) is HealingMode.OBSERVE
    assert switches.lowered("u", HealingMode.HEAL) is HealingMode.HEAL
    switches.set("t", on=False)
    assert switches.lowered("t", HealingMode.HEAL) is HealingMode.HEAL


@pytest.mark.parametrize("mode", [HealingMode.OFF, HealingMode.OBSERVE])
def test_none_ever_raises(mode, tmp_path):
    """On or off, what was set is the most there is."""
    (tmp_path / "pause").touch()
    for switches in (
        Switches(by_environment=lambda: True),
        Switches(tmp_path / "pause", by_environment=lambda: False),
        Switches(by_environment=lambda: False),
    ):
        assert switches.lowered("t", mode) is mode
