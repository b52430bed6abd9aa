"""The settings of coding agents: valid, and calling a command that answers in their shape."""

import json
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_watchdog.cli.app import app

HOOKS = Path(__file__).parents[2] / "examples" / "hooks"
EVENTS = {
    "claude-code": {"PostToolBatch", "UserPromptSubmit"},
    "codex": {"PostToolUse", "UserPromptSubmit"},
    "gemini": {"AfterTool", "BeforeAgent"},
}


def test_each_agent_has_its_snippet():
    """One file a format."""
    assert {path.stem for path in HOOKS.glob("*.json")} == set(EVENTS)


@pytest.mark.parametrize("agent", EVENTS)
def test_a_snippet_calls_the_command_in_its_format(agent, tmp_path, monkeypatch):
    """After the tools of a turn, and when a prompt begins a run; the command runs as written."""
    monkeypatch.chdir(tmp_path)
    settings = json.loads((HOOKS / f"{agent}.json").read_text("utf-8"))["hooks"]

    assert set(settings) == EVENTS[agent]
    for event, groups in settings.items():
        for hook in (hook for group in groups for hook in group["hooks"]):
            program, *arguments = shlex.split(hook["command"])
            given = json.dumps({"session_id": "s", "hook_event_name": event})

            done = CliRunner().invoke(app, arguments, input=given)

            assert (program, hook["type"]) == ("otel-watchdog", "command")
            assert arguments == ["signal", "claim", "--format", agent]
            assert (done.exit_code, done.stderr) == (0, "")
