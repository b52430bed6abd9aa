"""What the hooks of coding agents are told, in each one's own JSON."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

import orjson

from otel_watchdog.transport.signal_files import Signal

CAP: Final = "correction.cap"
"""Beside the signal file: how many more times the hook may be called in this run."""

MAX_STDIN_BYTES: Final = 32 * 1024 * 1024
"""A hook is given what the tool returned, which may be long."""

_NEW_RUN: Final = {"UserPromptSubmit", "SessionStart", "BeforeAgent"}
"""Hooks that are called when a run begins: its cap is lifted."""


class Format(Enum):
    """Whose hook asks."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"

    @property
    def event(self) -> str:
        """The hook that is called after the tools of a turn, where the input does not say."""
        return {"claude-code": "PostToolBatch", "codex": "PostToolUse", "gemini": "AfterTool"}[
            self.value
        ]


class HookInput:
    """What a hook is given on standard input; anything is put up with.

    Args:
        content: A JSON object, hopefully.
        format_: Whose hook it is.
    """

    def __init__(self, content: bytes, format_: Format) -> None:
        given: Any = None
        with contextlib.suppress(orjson.JSONDecodeError):
            given = orjson.loads(content)
        fields: Mapping[str, Any] = given if isinstance(given, dict) else {}
        self.session = _text(fields.get("session_id"))
        self.event = _text(fields.get("hook_event_name")) or format_.event
        self.is_sub_agent = bool(fields.get("agent_id"))
        """Its corrections are not its parent's: a sub-agent has the same session id."""

    @property
    def begins_run(self) -> bool:
        """Whether somebody has just spoken to the agent."""
        return self.event in _NEW_RUN


def answer(hook: HookInput, signals: Sequence[Signal], *, folder: Path, format_: Format) -> str:
    """Return what to print: the messages for the model, or that the run is to end.

    Caps are kept in `folder`, counted in calls of the hook: in Claude Code's `PostToolBatch` a
    call is a turn, elsewhere a tool call.

    Args:
        hook: What the hook was given.
        signals: What waited.
        folder: Where the session's signal file stands.
        format_: Whose hook it is.
    """
    silence = "{}" if format_ is Format.GEMINI else ""
    left = None if hook.begins_run else _calls_left(folder)
    if left is not None:
        left -= 1
    for signal in signals:
        if signal.max_turns_override is not None:
            more = signal.max_turns_override - (signal.turn or signal.max_turns_override)
            left = more if left is None else min(left, more)
    _keep(folder, left)
    text = "\n\n".join(signal.correction for signal in signals)
    if left is not None and left <= 0:
        reason = text or "[watchdog] the run's turns are used up: a correction had limited them"
        return _json({"continue": False, "stopReason": reason})
    if not text:
        return silence
    return _json({"hookSpecificOutput": {"hookEventName": hook.event, "additionalContext": text}})


def _calls_left(folder: Path) -> int | None:
    try:
        return int((folder / CAP).read_bytes()[:16])
    except (OSError, ValueError):
        return None


def _keep(folder: Path, left: int | None) -> None:
    """Remember how many calls are left; a run that ends, or has no cap, leaves nothing behind."""
    place = folder / CAP
    with contextlib.suppress(OSError):
        if left is None or left <= 0:
            place.unlink(missing_ok=True)
            return
        new = folder / f"{CAP}.{os.getpid()}.tmp"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.write_text(str(left), "ascii")
        new.rename(place)


def _json(value: dict[str, Any]) -> str:
    return orjson.dumps(value).decode()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
