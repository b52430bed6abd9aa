"""What a tool call may do to the world, by the tool's name, else by its arguments."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from otel_watchdog.evidence import shell
from otel_watchdog.evidence.exchanges import (
    EXECUTE,
    HAND_OFF,
    READ,
    THINK,
    UNCLEAR,
    WAIT,
    WRITE,
    Effect,
)
from otel_watchdog.evidence.shell import COMMAND_KEYS, listed, words_in

READERS: Final = listed(
    "read get list ls cat view open grep rg search find glob fetch lookup look show query inspect "
    "visit head tail select describe status diff stat pwd check browse scroll back page ctrl wc "
    "recall retrieve which stats log history load peek"
)
"""Words of tools that only look."""

WRITERS: Final = listed(
    "write edit replace patch create insert update delete remove add save commit push move mv cp "
    "mkdir apply append set install book cancel send upload rename touch modify put post reply "
    "merge deploy assign close reopen comment store upsert drop"
)
"""Words of tools that change something."""

RUNNERS: Final = listed(
    "run test tests build exec execute python interpreter submit sql eval compile code lint make "
    "notebook cell repl pytest"
)
"""Words of tools that run what they are given."""

WAITERS: Final = frozenset({"sleep", "wait", "pause", "delay"})
"""Words of tools that let time pass."""

THINKERS: Final = frozenset({"think", "thinking", "reflect", "calculate", "calculator", "note"})
"""Words of tools that change nothing but the agent's notes; `plan` and `todo` may loop."""

POLLERS: Final = listed(
    "status poll polling progress job jobs watch wait output monitor state checkstatus"
)
"""Words of tools that ask how something is getting on."""

SHELLS: Final = listed(
    "bash shell sh zsh cmd terminal command exec run_shell run_shell_command execute_bash "
    "run_command execute_command powershell run_terminal_cmd"
)
"""Names of tools that take a shell command."""

MAX_STATUS_CHARS: Final = 80
"""An argument that names a status to ask for is short."""

_LOOKING: Final = READERS - {"check"}
"""The same of programs: `make check` runs one."""

_SURE_COMMAND_KEYS: Final = ("command", "cmd")
"""Of `COMMAND_KEYS`, those that hold a shell command whatever the tool."""

_HAND_OFF: Final = re.compile(r"(?i)transfer|hand_?off|delegate")
_STATUS: Final = re.compile(r"(?i)\bstatus\b")
_SQL_WRITES: Final = re.compile(r"(?i)\s*(?:insert|update|delete|create|drop|alter|replace)\b")
_OLD_KEYS: Final = frozenset(
    {"old", "old_text", "old_string", "old_str", "search", "diff", "patch"}
)
_TEXT_KEYS: Final = frozenset({"content", "contents", "new_content", "text", "body"})
_LOOK_KEYS: Final = frozenset({"query", "pattern", "url", "q", "regex", "glob"})
_TIME_KEYS: Final = frozenset({"seconds", "ms", "duration", "minutes", "milliseconds"})


class Nature(NamedTuple):
    """What a tool's name tells."""

    words: frozenset[str]
    effect: Effect
    is_poll: bool
    is_shell: bool
    is_sql: bool


class Doing(NamedTuple):
    """What a call does."""

    effect: Effect
    is_poll: bool
    command: str | None
    """The shell command in one spelling, "" for one of comments alone; `None` for other calls."""


@lru_cache(maxsize=512)
def nature_of(tool: str) -> Nature:
    """Say what a tool's name tells.

    >>> nature_of("edit_file").effect, nature_of("jobStatus").is_poll
    (<Effect.WRITE: 'write'>, True)
    """
    words = words_in(tool)
    name = tool.lower()
    effect = THINK if words & THINKERS else _effect_of(words)
    if words & WAITERS:
        effect = WAIT
    elif _HAND_OFF.search(tool):
        effect = HAND_OFF
    is_poll = bool(words & POLLERS) and "git" not in words
    return Nature(words, effect, is_poll, name in SHELLS, "sql" in words)


def _effect_of(words: frozenset[str]) -> Effect:
    if words & WRITERS:
        return WRITE
    if words & READERS:
        return READ
    return EXECUTE if words & RUNNERS else UNCLEAR


def doing_of(tool: str, arguments: Mapping[str, Any] | None) -> Doing:
    """Say what a call does.

    >>> doing_of("bash", {"command": "git status"}).effect
    <Effect.READ: 'read'>
    """
    nature = nature_of(tool)
    if not arguments:
        return Doing(nature.effect, nature.is_poll, None)
    command = _command_in(arguments, nature)
    if command is not None:
        return _of_command(command, nature)
    is_poll = nature.is_poll or ("git" not in nature.words and _asks_for_status(arguments))
    effect = nature.effect
    if nature.is_sql:
        query = next((v for v in arguments.values() if isinstance(v, str)), "")
        effect = WRITE if _SQL_WRITES.match(query) else READ
    elif effect is UNCLEAR:
        effect = _of_keys(arguments.keys())
    return Doing(effect, is_poll, None)


def _command_in(arguments: Mapping[str, Any], nature: Nature) -> str | None:
    for key in COMMAND_KEYS if nature.is_shell else _SURE_COMMAND_KEYS:
        if key in arguments and type(arguments[key]) is str:
            return str(arguments[key])
    return None


def _asks_for_status(arguments: Mapping[str, Any]) -> bool:
    for value in arguments.values():
        if type(value) is str and "tatus" in value and len(value) < MAX_STATUS_CHARS:
            return _STATUS.search(value) is not None
    return False


def _of_command(command: str, nature: Nature) -> Doing:
    parsed = shell.parse(command)
    verbs = parsed.verbs
    is_git = "git" in verbs
    is_poll = (nature.is_poll and not nature.is_shell) or bool(verbs & POLLERS and not is_git)
    if parsed.waits:
        effect = WAIT
    elif verbs & THINKERS:
        effect = THINK
    elif parsed.writes:
        effect = WRITE
    elif is_git or verbs & {"grep", "find", "cat", "rg", "echo"}:
        effect = READ if "echo" not in verbs else EXECUTE
    elif verbs & (WRITERS - {"install", "set", "store"}):
        effect = WRITE
    elif verbs & _LOOKING:
        effect = READ
    else:
        effect = EXECUTE
    return Doing(effect, is_poll, "" if parsed.is_comment else parsed.text)


def _of_keys(keys: object) -> Effect:
    """Say what arguments tell of a tool whose name tells nothing."""
    names = {str(key).lower() for key in keys}  # type: ignore[attr-defined]
    if names & _OLD_KEYS or (names & _TEXT_KEYS and any("path" in n or "file" in n for n in names)):
        return WRITE
    if names and names <= _TIME_KEYS:
        return WAIT
    if names & _LOOK_KEYS:
        return READ
    return UNCLEAR
