"""Which calls check the work, and what they say when all is well."""

import json

import pytest

from otel_watchdog import ToolCall, ToolResult
from otel_watchdog.evidence.checks import is_check, is_green, tells_green
from otel_watchdog.progress import Progress


def finished(tool, arguments, result="12 passed in 0.3s"):
    """Return the record of one call."""
    progress = Progress()
    progress.observe(ToolCall("s", 1, tool, json.dumps(arguments)))
    progress.observe(ToolResult("s", 1, tool, result=result))
    return progress.exchange


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "cd /repo && .venv/bin/pytest tests/test_a.py -x 2>&1 | tail -5",
        "python -m unittest discover",
        "uv run mypy src",
        "npm run test:unit -- --watch=false",
        "make check",
        "cargo clippy --all-targets",
        "go vet ./...",
        "python tests/test_api.py",
        "python manage_test.py",
    ],
)
def test_commands_that_check(command):
    """Tests, linters, type checkers and builds, wherever they stand in a command."""
    assert is_check(finished("bash", {"command": command}))


@pytest.mark.parametrize(
    "command",
    [
        "cat tests/test_api.py",
        "grep -rn pytest pyproject.toml",
        "pip install pytest",
        "git diff tests",
        "ls build",
        "echo test",
        "python train.py --checkpoint last",
    ],
)
def test_commands_that_only_name_a_check(command):
    """Looking at one, or installing it, is none."""
    assert not is_check(finished("bash", {"command": command}))


def test_tools_that_check_by_their_name():
    """One that writes does not."""
    assert is_check(finished("run_tests", {}))
    assert is_check(finished("lintProject", {"path": "src"}))
    assert not is_check(finished("write_test", {"path": "a", "content": "b"}))
    assert not is_check(finished("read_file", {"path": "tests/test_a.py"}))


@pytest.mark.parametrize(
    "text",
    [
        "40 passed, 3 warnings in 2.10s",
        "Ran 12 tests in 0.004s\n\nOK",
        "test result: ok. 9 passed; 0 failed; 0 ignored",
        "ok  \texample.org/pkg\t0.003s",
        "Tests:       31 passed, 31 total",
        "All checks passed!",
        "Success: no issues found in 9 source files",
        "BUILD SUCCESSFUL in 3s",
        "webpack compiled successfully",
        "0 errors, 0 warnings",
    ],
)
def test_what_is_green(text):
    """The closing words of usual runners."""
    assert tells_green(text)


@pytest.mark.parametrize(
    "text",
    [
        "39 passed, 1 failed in 2.10s",
        "FAILED (failures=1)",
        "test result: FAILED. 8 passed; 1 failed",
        "FAIL\texample.org/pkg\t0.003s",
        "3 passed, 1 error in 0.2s",
        "0 errors\nBUILD FAILED",
        "not ok 2 - adds",
        "12 tests collected",
        "",
    ],
)
def test_what_is_not(text):
    """One failure is enough, and so is silence."""
    assert not tells_green(text)


def test_only_a_check_is_green():
    """A file may speak of passed tests, too."""
    assert is_green(finished("bash", {"command": "pytest"}))
    assert not is_green(finished("read_file", {"path": "log"}))
    assert not is_green(finished("bash", {"command": "pytest"}, "Error: 3 passed, cannot write"))
