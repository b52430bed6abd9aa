"""`otel-watchdog replay` shows runs to people and programs, and says what it cannot read."""

import gzip
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from typer.testing import CliRunner

from otel_watchdog.cli.app import app
from otel_watchdog.cli.safe import safe
from otel_watchdog.version import VERSION

FILES = Path(__file__).parents[1] / "testdata" / "replay"
TRACE = str(FILES / "pydantic_ai__native.json")
LOOP = [
    {"turn": turn, "kind": "tool_call", "name": "ls", "args": {"path": "a"}, "t": turn * 100}
    for turn in range(1, 7)
]


def invoke(*arguments, **options):
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def run_command(*arguments, **options):
    """Run the command in a process of its own."""
    program = "from otel_watchdog.cli import main; main()"
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop.jsonl"
    path.write_text(json.dumps({"id": "loop", "events": LOOP}) + "\n", "utf-8")
    return path


def test_the_bare_command_shows_help():
    """And ends well."""
    result = invoke()

    assert result.exit_code == 0
    assert "replay" in result.output
    assert "demo" in result.output


def test_version():
    """It is the package's."""
    assert invoke("--version").output == f"otel-watchdog {VERSION}\n"


def test_help_has_examples_and_exit_codes():
    """What people look for first."""
    output = invoke("replay", "--help").output

    assert "otel-watchdog replay trace.json" in output
    assert "Exit codes" in output


def test_people_see_findings_corrections_and_what_was_blind(loop):
    """In one table a run."""
    result = invoke(
        "replay", "--profile", "classic", loop, FILES / "092-tool-spans-without-arguments.json"
    )

    assert result.exit_code == 0
    assert "loop  1 session · 1 run · 6 turns · 6 tool calls" in result.output
    assert "critical" in result.output
    assert "nudge" in result.output
    assert "nothing found" in result.output
    assert "blind: the arguments of tool calls are not captured" in result.output


def test_people_see_what_they_ask_for(loop):
    """`--show` replaces what is shown, and may be given several times."""
    classic = ("--profile", "classic")
    observed = invoke("replay", *classic, "--show", "observations", loop).output
    both = invoke("replay", *classic, "--show", "observations", "--show", "findings", loop).output

    assert "tool call" in observed
    assert "critical" not in observed
    assert "critical" in both
    assert "nudge" not in both


def test_programs_get_an_object_a_run(loop):
    """One a line, and observations only if asked for."""
    plain = invoke("replay", "--json", "--profile", "classic", loop, TRACE)
    full = invoke("replay", "--json", "--show", "observations", loop)

    runs = [json.loads(line) for line in plain.stdout.splitlines()]
    assert [run["id"] for run in runs] == ["loop", "pydantic_ai__native"]
    assert list(runs[0]) == ["id", "sessions", "findings", "corrections", "outcomes", "blind"]
    assert runs[0]["corrections"][0]["tier"] == "nudge"
    assert len(json.loads(full.stdout)["observations"]) == 8


def test_standard_input(loop):
    """`-` reads it, packed or not."""
    result = run_command("replay", "--json", "-", input=gzip.compress(loop.read_bytes()))

    assert result.returncode == 0
    assert json.loads(result.stdout)["id"] == "loop"
    assert result.stderr == b""


def test_mode_and_profile_are_taken(loop):
    """In mode `off` nothing is corrected; words that are none are refused."""
    off = invoke("replay", "--json", "--mode", "off", "--profile", "classic", loop)

    assert json.loads(off.stdout)["corrections"] == []
    assert json.loads(off.stdout)["findings"]
    assert invoke("replay", "--mode", "of", loop).exit_code == 2
    assert invoke("replay", "--profile", "eagre", loop).exit_code == 2
    assert invoke("replay").exit_code == 2


def test_settings_come_from_a_file(loop, tmp_path):
    """And a wrong one is told in one line."""
    good = tmp_path / "good.yaml"
    good.write_text("min_turns: 50\n", "utf-8")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("min_tuns: 50\n", "utf-8")

    held = invoke("replay", "--json", "--config", good, loop)
    refused = invoke("replay", "--config", wrong, loop)

    assert json.loads(held.stdout)["corrections"] == []
    assert refused.exit_code == 2
    assert "min_tuns is no setting" in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello", ":1:1: neither JSON"),
        (b'{"id":', ":1:7: not JSON"),
        (b"{}", ":1: must have resourceSpans"),
        (b"\x0a\x05abc", "byte "),
        (b"\x1f\x8b", "byte 2: the gzip data is cut"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(content, message, tmp_path):
    """It names the file and the place; the other files are still read."""
    path = tmp_path / "bad"
    path.write_bytes(content)

    result = invoke("replay", "--json", path, TRACE)

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(str(path))
    assert message in result.stderr
    assert json.loads(result.stdout)["id"] == "pydantic_ai__native"


def test_files_that_cannot_be_opened(tmp_path):
    """Missing, a folder, or no name at all."""
    for path in (tmp_path / "none", tmp_path, "nul\0"):
        result = invoke("replay", path)

        assert result.exit_code == 2
        assert "cannot be read" in result.stderr
        assert result.stderr.count("\n") == 1


def test_runs_before_a_bad_line_are_printed(loop):
    """What was read is not lost."""
    loop.write_bytes(loop.read_bytes() + b'{"id": "cut", "ev')

    result = invoke("replay", "--json", loop)

    assert result.exit_code == 2
    assert json.loads(result.stdout)["id"] == "loop"
    assert ":2:" in result.stderr


HOSTILE = "\x1b[2J\x1b]0;title\x07[bold red]x[/bold red][link=a]\u202e\u200b\x85\r\n" + "y" * 5000


def test_hostile_text_is_shown_escaped(tmp_path):
    """Control characters, markup, marks of direction, and very long texts."""
    events = [one | {"name": HOSTILE, "args": {"a": HOSTILE}, "agent": HOSTILE} for one in LOOP]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps({"id": HOSTILE, "events": events}), "utf-8")

    shown = invoke("replay", path, "--show", "observations", "--show", "findings").output

    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]", shown) == []
    assert "\\x1b" in shown
    assert "[bold red]" in shown
    assert len(shown) < 60_000


def test_the_name_of_a_file_cannot_act_on_the_terminal(tmp_path):
    """It is untrusted as well."""
    path = tmp_path / "a\x1b[31m\n.json"
    path.write_bytes(b"{")

    result = invoke("replay", path)

    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_safe_text_keeps_what_people_read():
    """Letters of all scripts, and emoji."""
    assert safe("Grüße, 世界 😀 [x]") == "Grüße, 世界 😀 [x]"


def test_a_terminal_that_knows_ascii_only(loop):
    """What it cannot show is written out."""
    result = run_command(
        "replay", "--profile", "classic", loop, env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )

    assert result.returncode == 0
    assert b"nudge" in result.stdout


def test_a_bar_is_shown_to_people_only(tmp_path):
    """On a terminal, on standard error, and gone when the run is shown."""
    path = tmp_path / "large.jsonl"
    line = json.dumps({"id": "r", "events": LOOP, "notes": "x" * 300_000}) + "\n"
    path.write_text(line * 5, "utf-8")
    ours, theirs = pty.openpty()

    piped = run_command("replay", "--json", path)
    with subprocess.Popen(  # noqa: S603 - our own command
        [
            sys.executable,
            "-c",
            "from otel_watchdog.cli import main; main()",
            "replay",
            "--json",
            path,
        ],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm"},
    ) as process:
        os.close(theirs)
        stdout, _ = process.communicate(timeout=60)
    seen = os.read(ours, 100_000)
    os.close(ours)

    assert piped.stderr == b""
    assert stdout == piped.stdout
    assert b"reading" in seen


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=100) | st.sampled_from([b"{", b'{"events":', b"\x0a\x00"]))
def test_arbitrary_bytes_end_with_0_or_2(content, tmp_path):
    """Never with a traceback."""
    path = tmp_path / "any"
    path.write_bytes(content)

    result = invoke("replay", path)

    assert result.exit_code in {0, 2}
    assert result.exit_code == 0 or result.stderr.count("\n") == 1


def test_files_that_belong_together_are_one_run():
    """Codex writes spans into one file and what matters into another."""
    recordings = Path(__file__).parents[2] / "recordings"
    files = [recordings / f"codex__native{kind}.json.gz" for kind in ("", ".logs")]

    apart = invoke("replay", "--json", *files)
    together = invoke("replay", "--json", "--together", "--show", "observations", *files)

    assert len(apart.output.splitlines()) == 2
    (run,) = [json.loads(line) for line in together.output.splitlines()]
    calls = [one for one in run["observations"] if one["kind"] == "tool_call"]
    assert len(calls) == 8
    assert calls[0]["arguments"] == '{"cmd": "cat main.go"}'


def test_a_judge_that_is_not_named_cannot_be_asked(tmp_path, monkeypatch):
    """`--judge` without `judge.model` is an error before anything is read."""
    monkeypatch.delenv("OTEL_WATCHDOG_JUDGE", raising=False)

    result = invoke("replay", "--judge", str(tmp_path / "none.json"))

    assert result.exit_code == 2
    assert "judge.model must name a model" in result.output


def test_a_judge_that_cannot_be_asked_is_told_of(monkeypatch):
    """In one line, that names the setting."""
    monkeypatch.setenv("OTEL_WATCHDOG_JUDGE", '{"model": "nobody:knows"}')

    result = invoke("replay", "--judge", "none.json")

    assert result.exit_code == 2
    assert "judge.model: 'nobody:knows' cannot be asked" in result.output
