"""The command that shell agents and hooks call."""

import json

import pytest
from typer.testing import CliRunner

from otel_watchdog import Mode
from otel_watchdog.cli.app import app
from otel_watchdog.cli.hooks import CAP
from otel_watchdog.testing import correction
from otel_watchdog.transport import signal_files
from otel_watchdog.transport.signal_files import Signal

runner = CliRunner()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of all sessions, which the environment names."""
    place = tmp_path / "signals"
    monkeypatch.setenv("OTEL_WATCHDOG_SIGNAL_FOLDER", str(place))
    return place


def signal(*arguments, given=None):
    """Run the command."""
    return runner.invoke(app, ["signal", *arguments], input=given)


def hook(format_, *arguments, event=None, session="s", **more):
    """Call as a hook does; return what it says."""
    given = {"session_id": session, "hook_event_name": event, "cwd": "x", **more}
    given = {name: value for name, value in given.items() if value is not None}
    done = signal("claim", "--format", format_, *arguments, given=json.dumps(given))
    assert done.exit_code == 0
    return json.loads(done.stdout) if done.stdout else None


def put(folder, text="[watchdog] stop", session="s", **facts):
    """Have a signal wait."""
    signal_files.put(signal_files.folder_of(folder, session), Signal(text, **facts))


def test_what_is_sent_is_claimed(folder):
    """By the session's own agent, once."""
    sent = signal("send", "try something else", "--session", "s", "--tier", "redirect")
    other = signal("claim", "--session", "t")
    claimed = signal("claim", "--session", "s")
    again = signal("claim", "--session", "s")

    assert (sent.exit_code, sent.output) == (0, "")
    assert (other.exit_code, other.output) == (1, "")
    assert (claimed.exit_code, claimed.stdout) == (0, "[watchdog] try something else\n")
    assert again.exit_code == 1
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("folder")
def test_claims_as_json():
    """For programs, with the cap."""
    signal("send", "stop", "--max-turns", "40", "--tier", "hard-stop")

    claimed = json.loads(signal("claim", "--json").stdout)

    assert claimed["correction"] == "[watchdog] stop"
    assert (claimed["max_turns_override"], claimed["tier"]) == (40, "hard-stop")


@pytest.mark.usefixtures("folder")
def test_waits_and_gives_up():
    """In time, with an exit code of its own."""
    nothing = signal("wait", "--timeout", "0")
    signal("send", "stop")
    something = signal("wait", "--timeout", "5")

    assert (nothing.exit_code, nothing.output) == (1, "")
    assert (something.exit_code, something.stdout) == (0, "[watchdog] stop\n")


@pytest.mark.usefixtures("folder")
def test_does_not_write_over_an_unread_one():
    """It says why it gave up."""
    signal("send", "one")

    second = signal("send", "two", "--timeout", "0")

    assert second.exit_code == 1
    assert "was not read yet" in second.stderr
    assert signal("claim").stdout == "[watchdog] one\n"


def test_what_is_no_correction_is_said(folder):
    """And deleted; the terminal is safe from it."""
    folder.mkdir(mode=0o700)
    (folder / "correction.signal").write_text("\x1b[31m{", "utf-8")

    first, second = signal("claim"), signal("claim")

    assert (first.exit_code, first.stdout) == (2, "")
    assert "deleted: " in first.stderr
    assert "\x1b" not in first.stderr
    assert second.exit_code == 1


@pytest.mark.parametrize("command", [["claim"], ["wait", "--timeout", "0"], ["send", "x"]])
def test_refuses_a_folder_for_everybody(folder, command):
    """One line says so."""
    folder.mkdir()
    folder.chmod(0o777)

    done = signal(*command)

    assert done.exit_code == 2
    assert "writable by everybody" in done.stderr


@pytest.mark.parametrize("arguments", [["send", " "], ["send", "x", "--tier", "kill"]])
@pytest.mark.usefixtures("folder")
def test_refuses_what_makes_no_sense(arguments):
    """One line says why."""
    done = signal(*arguments)

    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [[], ["claim"], ["wait"], ["send"]])
def test_helps_with_examples(command):
    """And with exit codes."""
    shown = signal(*command, "--help").stdout

    assert not command or ("Examples" in shown and "Exit codes" in shown)


@pytest.mark.parametrize(
    ("format_", "event"),
    [("claude-code", "PostToolBatch"), ("codex", "PostToolUse"), ("gemini", "AfterTool")],
)
def test_a_hook_adds_context_after_the_tools(folder, format_, event):
    """In the shape that each agent reads; the session comes on standard input."""
    put(folder)

    said = hook(format_)

    assert said == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "[watchdog] stop"}
    }


@pytest.mark.parametrize(
    ("format_", "event"),
    [("claude-code", "PostToolUse"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")],
)
def test_a_hook_answers_for_the_event_it_was_called_for(folder, format_, event):
    """An agent refuses an answer that names another."""
    put(folder)

    assert hook(format_, event=event)["hookSpecificOutput"]["hookEventName"] == event


@pytest.mark.usefixtures("folder")
def test_a_hook_is_silent_where_nothing_waits():
    """Gemini CLI wants an object all the same."""
    assert hook("claude-code") is None
    assert hook("codex") is None
    assert hook("gemini") == {}


@pytest.mark.parametrize("given", ["", "no json", "[]", '{"session_id": 5}', '{"a": "\\ud800"}'])
@pytest.mark.usefixtures("folder")
def test_a_hook_never_fails(given):
    """An agent takes a failing hook for an error of its own."""
    done = signal("claim", "--format", "claude-code", given=given)

    assert (done.exit_code, done.stdout) == (0, "")


def test_a_hook_leaves_a_bad_folder_alone(folder):
    """It says so on standard error, and the agent goes on."""
    folder.mkdir()
    folder.chmod(0o777)

    done = signal("claim", "--format", "codex", given='{"session_id": "s"}')

    assert (done.exit_code, done.stdout) == (0, "")
    assert "writable by everybody" in done.stderr


def test_a_sub_agent_gets_nothing_of_its_parents(folder):
    """It has the same session id."""
    put(folder)

    assert hook("claude-code", agent_id="a1") is None
    assert hook("claude-code")["hookSpecificOutput"]["additionalContext"] == "[watchdog] stop"


def test_a_cap_ends_the_run_after_the_turns_it_leaves(folder):
    """Three turns from the one that was judged; the way that stops the agent's loop."""
    put(folder, max_turns_override=23, turn=20, tier="terminate")

    said = [hook("claude-code") for _ in range(5)]

    assert "hookSpecificOutput" in said[0]
    assert said[1:3] == [None, None]
    assert said[3]["continue"] is False
    assert said[3]["stopReason"].startswith("[watchdog] ")
    assert said[4] is None


def test_a_cap_only_lowers(folder):
    """A later, looser one changes nothing."""
    put(folder, max_turns_override=23, turn=20)
    hook("codex")
    put(folder, max_turns_override=40, turn=20)

    said = [hook("codex") for _ in range(3)]

    assert [one is not None and "continue" in one for one in said] == [False, False, True]


def test_a_new_prompt_lifts_the_cap(folder):
    """Somebody has spoken to the agent: a run begins anew."""
    put(folder, max_turns_override=23, turn=20)
    hook("claude-code")

    hook("claude-code", event="UserPromptSubmit")

    assert [hook("claude-code") for _ in range(4)] == [None] * 4
    assert not (folder / "s" / CAP).exists()


def test_claims_from_a_service(folder, service):
    """What waits there is put beside what stands in the file."""
    put(folder, "[watchdog] from the file")
    service.put(correction(id="a", message="[watchdog] from the service"))

    both = signal("claim", "--session", "s", "--service", service.url)
    then = signal("claim", "--session", "s", "--service", service.url)

    assert both.stdout == "[watchdog] from the file\n\n[watchdog] from the service\n"
    assert then.exit_code == 1


@pytest.mark.usefixtures("folder")
def test_a_hook_asks_a_service(service):
    """For the session that the agent names, with its cap in mode enforce."""
    service.put(correction(id="a", mode=Mode.ENFORCE, max_turns=5, turn=5))

    said = hook("claude-code", "--service", service.url)

    assert said == {"continue": False, "stopReason": "[watchdog] stop"}


@pytest.mark.usefixtures("folder")
def test_a_service_that_is_gone_does_not_fail_a_hook(service):
    """It does fail who asked without one."""
    service.stop()

    assert hook("claude-code", "--service", service.url) is None
    assert signal("claim", "--session", "s", "--service", service.url).exit_code == 2
