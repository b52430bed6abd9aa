"""`otel-watchdog doctor`, run as a person would."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_watchdog.cli.app import app

RECORDINGS = Path(__file__).parents[2] / "recordings"
PROVIDER = """
from opentelemetry.sdk.trace import TracerProvider

provider = TracerProvider(shutdown_on_exit=False)


def make():
    return provider


def fail():
    raise ValueError("no")
"""


def run(*arguments):
    """Run the command."""
    return CliRunner().invoke(app, ["doctor", *map(str, arguments)])


def test_a_trace_that_shows_all_ends_with_nothing_hidden():
    """Exit code 0."""
    result = run(RECORDINGS / "langchain__langfuse.json.gz")

    assert result.exit_code == 0
    assert "langfuse-sdk  →  langfuse_sdk" in result.stdout
    assert "8 tool calls, 3 of them failed" in result.stdout
    assert result.stdout.rstrip().endswith("nothing is hidden")


def test_what_is_hidden_is_told_with_the_switch():
    """Exit code 1; one page."""
    result = run(RECORDINGS / "google_adk__native.json.gz")

    assert result.exit_code == 1
    assert "arguments                                      0%" in result.stdout
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY" in result.stdout
    assert len(result.stdout.splitlines()) < 25


def test_programs_get_json():
    """One object."""
    result = run("--json", RECORDINGS / "codex__native.json.gz")

    report = json.loads(result.stdout)
    assert (result.exit_code, report["well"]) == (1, False)
    assert report["remedies"][0]["scope"].startswith("codex")


@pytest.mark.parametrize("place", ["app_of_mine:provider", "app_of_mine:make", "app_of_mine"])
def test_a_module_of_mine_is_examined(place, tmp_path, monkeypatch):
    """Its provider, or what a function returns."""
    (tmp_path / "app_of_mine.py").write_text(PROVIDER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", str(tmp_path)])

    result = run("--module", place)

    assert result.exit_code == 1
    assert "no watchdog is installed" in result.stdout


@pytest.mark.parametrize("place", ["app_of_mine:fail", "app_of_mine:missing", "no_such_module"])
def test_a_module_that_cannot_be_imported_is_told(place, tmp_path, monkeypatch):
    """Exit code 2, one line."""
    (tmp_path / "app_of_mine.py").write_text(PROVIDER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", str(tmp_path)])

    result = run("--module", place)

    assert result.exit_code == 2
    assert f"{place}: cannot be imported" in result.stderr


@pytest.mark.parametrize("arguments", [(), ("-",), ("x.json", "--module", "x"), ("missing.json",)])
def test_bad_input_is_told(arguments):
    """Exit code 2."""
    assert run(*arguments).exit_code == 2
