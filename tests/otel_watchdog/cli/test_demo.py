"""The demo: what it shows has really happened."""

import json

import pytest
import typer
from typer.testing import CliRunner

from otel_watchdog.cli.demo import TURN_LIMIT, demo

TIERS = ["nudge", "redirect", "force-wrap", "hard-stop", "terminate"]


pytestmark = pytest.mark.usefixtures("loop")


def run(*arguments):
    """Run the command; return what it came to."""
    app = typer.Typer()
    app.command()(demo)
    return CliRunner().invoke(app, ["--delay", "0", *arguments])


@pytest.mark.slow
def test_the_summary_says_what_happened():
    """Alone it loops to its limit; watched it is ended in time, or heeds and finishes."""
    result = run("--json")

    alone, stubborn, heeding = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (alone["turns"], alone["corrections"]) == (TURN_LIMIT, [])
    assert "without a result" in alone["outcome"]
    assert [c["tier"] for c in stubborn["corrections"]] == TIERS
    for correction in stubborn["corrections"]:
        assert correction["span"] == f"watchdog-{correction['tier']}-turn-{correction['turn']}"
    assert stubborn["turns"] == stubborn["corrections"][-1]["turn"] + 3 < 29
    assert stubborn["outcome"].startswith(
        f"ended by the watchdog before turn {stubborn['turns'] + 1}"
    )
    assert [c["tier"] for c in heeding["corrections"]] == ["nudge"]
    assert heeding["turns"] == heeding["corrections"][0]["turn"] + 2 <= 7
    assert heeding["outcome"].startswith("finished: config.toml")
    assert alone["tokens"] > stubborn["tokens"] > heeding["tokens"] > 0


@pytest.mark.slow
def test_a_person_sees_it_and_a_picture_is_written(tmp_path):
    """Without `--json` the runs and the summary are drawn."""
    picture = tmp_path / "demo.svg"

    result = run("--svg", str(picture))

    assert result.exit_code == 0
    assert "What it came to" in result.stdout
    assert "nudge at " in result.stdout
    assert picture.read_text("utf-8").startswith("<svg")


@pytest.mark.slow
def test_the_environment_does_not_change_the_show(monkeypatch):
    """Whoever watches in mode off elsewhere still sees the demo."""
    monkeypatch.setenv("OTEL_WATCHDOG_MODE", "off")
    monkeypatch.setenv("OTEL_WATCHDOG_MIN_TURNS", "30")

    _, stubborn, _ = json.loads(run("--json").stdout)

    assert [c["tier"] for c in stubborn["corrections"]] == TIERS


def test_refuses_a_negative_delay():
    """As every option out of its range."""
    result = run("--delay", "-1")

    assert result.exit_code == 2
