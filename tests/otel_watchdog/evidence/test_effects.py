"""What a call may do to the world."""

import pytest

from otel_watchdog.evidence.effects import doing_of
from otel_watchdog.evidence.exchanges import Effect


@pytest.mark.parametrize(
    ("tool", "arguments", "effect"),
    [
        ("read_file", {"path": "a"}, Effect.READ),
        ("editFile", {"path": "a"}, Effect.WRITE),
        ("web_search", {"query": "a"}, Effect.READ),
        ("run_tests", {}, Effect.EXECUTE),
        ("sleep", {"seconds": 5}, Effect.WAIT),
        ("think", {"thought": "hm"}, Effect.THINK),
        ("transfer_to_worker", {}, Effect.HAND_OFF),
        ("execute_sql", {"query": "select 1"}, Effect.READ),
        ("execute_sql", {"query": "DELETE FROM a"}, Effect.WRITE),
        ("bash", {"command": "grep -rn foo src"}, Effect.READ),
        ("bash", {"command": "edit_file --path a --old x"}, Effect.WRITE),
        ("bash", {"command": "sleep 5"}, Effect.WAIT),
        ("bash", {"command": "cat a.py | grep foo"}, Effect.READ),
        ("bash", {"command": "ls | wc -l"}, Effect.READ),
        ("bash", {"command": "pytest -q | tail -3"}, Effect.EXECUTE),
        ("bash", {"command": "npm test 2>&1 | grep -c fail"}, Effect.EXECUTE),
        ("bash", {"command": "make check"}, Effect.EXECUTE),
        ("bash", {"command": "find . -name '*.pyc' | xargs rm"}, Effect.WRITE),
        ("bash", {"command": "think --thought hm"}, Effect.THINK),
        ("bash", {"command": "python run.py"}, Effect.EXECUTE),
        ("fn_01x", {"path": "a", "old": "x", "new": "y"}, Effect.WRITE),
        ("fn_02x", {"query": "a"}, Effect.READ),
        ("fn_03x", {"seconds": 5}, Effect.WAIT),
        ("fn_04x", {"a": 1}, Effect.UNKNOWN),
    ],
)
def test_effect(tool, arguments, effect):
    """By the tool's name, a shell command's verbs, else by what the arguments are called."""
    assert doing_of(tool, arguments).effect is effect


@pytest.mark.parametrize(
    ("tool", "arguments", "polls"),
    [
        ("job_status", {"id": "j"}, True),
        ("bash", {"command": "gatewayctl status"}, True),
        ("bash", {"command": "git status"}, False),
        ("git_status", {}, False),
        ("read_file", {"path": "a"}, False),
        ("exec", {"query": "status of j1"}, True),
    ],
)
def test_polls(tool, arguments, polls):
    """Who asks how something is getting on may ask again."""
    assert doing_of(tool, arguments).is_poll is polls
