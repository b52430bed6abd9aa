"""What a tool's name tells of it."""

import pytest

from benchmarks.quality.peers.steps import Call, steps_of
from benchmarks.quality.peers.tools import command_of, kind_of


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("read_file", "read"),
        ("StrReplaceEdit", "edit"),
        ("search_direct_flight", "search"),
        ("update_reservation_flights", "edit"),
        ("python_interpreter", "run"),
        ("job_status", "wait"),
        ("think", "other"),
    ],
)
def test_the_first_word_known_tells_the_kind(tool, kind):
    """Waiting goes before all."""
    assert kind_of(tool) == kind


@pytest.mark.parametrize(
    ("tool", "args", "command"),
    [
        ("execute_bash", {"command": "ls"}, "ls"),
        ("run_shell", {"cmd": "ls"}, "ls"),
        ("queue", {"command": "ls"}, None),
        ("bash", {"command": ["ls"]}, None),
    ],
)
def test_only_a_shell_has_a_command_line(tool, args, command):
    """Another tool may have an argument of that name."""
    event = {"kind": "tool_call", "turn": 1, "name": tool, "args": args}
    (call,) = [step for step in steps_of([event]) if isinstance(step, Call)]

    assert command_of(call) == command
