"""`otel-watchdog calibrate`, as people and programs call it."""

import json

import pytest
from typer.testing import CliRunner

from otel_watchdog import WatchdogConfig
from otel_watchdog.cli.app import app
from tests.otel_watchdog.calibration.good_runs import lines


def invoke(*arguments):
    return CliRunner().invoke(app, ["calibrate", *(str(one) for one in arguments)])


@pytest.fixture
def runs(tmp_path):
    """Return a function that writes good runs into a file."""

    def write(count, **options):
        path = tmp_path / "good.jsonl"
        path.write_bytes(lines(count, **options))
        return path

    return write


def test_settings_are_printed_and_the_report_stands_beside_them(runs):
    """Standard output is the file, standard error the table."""
    result = invoke(runs(200))

    assert result.exit_code == 0
    assert "profile: standard" in result.stdout
    assert "unchanged_result" in result.stderr
    assert "at most 2 % will be warned" in result.stdout


def test_settings_are_written_to_a_file_that_loads(runs, tmp_path):
    """With the numbers of the detectors that were made patient."""
    output = tmp_path / "watchdog.yaml"

    result = invoke("--profile", "classic", "--warned", "0.03", "-o", output, runs(160, errors=24))

    assert (result.exit_code, result.stdout) == (0, "")
    assert WatchdogConfig.load(output).detectors == {"tool_failure_streak": {"threshold": 4}}


def test_too_few_runs_say_how_many_it_takes(runs, tmp_path):
    """Nothing is written, and a program sees it."""
    output = tmp_path / "watchdog.yaml"

    result = invoke("-o", output, runs(20))

    assert result.exit_code == 1
    assert "it takes at least 149, none of them warned" in result.stderr
    assert not output.exists()


def test_programs_get_all_figures(runs):
    """One object, and nothing else."""
    result = invoke("--json", "--warned", "0.05", "--next", "100", runs(300))

    told = json.loads(result.stdout)
    assert told["promise"]["next_runs"] == 100
    assert told["promise"]["given"] is True
    assert told["runs"] == 300


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--warned", "2"], "warned must be above 0 and below 1, got 2.0"),
        (["--next", "0"], "next must be at least 1, got 0"),
        (["--config", "nowhere.yaml"], "nowhere.yaml"),
        (["nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_input_is_one_line(runs, arguments, said):
    """It names the place; the exit code says so."""
    result = invoke(*arguments, runs(3))

    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_other_settings_of_the_file_are_kept(runs, tmp_path):
    """What was begun with is carried over."""
    begun = tmp_path / "begun.yaml"
    begun.write_text("refractory_turns: 7\ndetectors:\n  known_lines: false\n")
    output = tmp_path / "watchdog.yaml"

    result = invoke("--config", begun, "-o", output, runs(200))

    loaded = WatchdogConfig.load(output)
    assert result.exit_code == 0
    assert (loaded.refractory_turns, loaded.detectors) == (7, {"known_lines": False})


def test_help_has_examples():
    """And says what the exit codes mean."""
    output = invoke("--help").output

    assert "Examples" in output
    assert "Exit codes" in output
