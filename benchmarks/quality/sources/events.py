"""Events of observation lines, as loaders write them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]


def said(turn: int, text: str | None) -> Event:
    """Return what a model said in a turn."""
    return {"turn": turn, "kind": "assistant_text", "result": text or ""}


def asked(turn: int, text: str | None) -> Event:
    """Return what a user said after a turn."""
    return {"turn": turn, "kind": "user_text", "result": text}


def called(turn: int, name: str, args: Any, call_id: str | None = None) -> Event:
    """Return a tool call.

    Args:
        turn: The turn.
        name: The tool.
        args: An object or its JSON text; `None`: not captured.
        call_id: Pairs it with its result.
    """
    return {"turn": turn, "kind": "tool_call", "name": name, "args": args, "call_id": call_id}


def answered(
    turn: int,
    name: str | None,
    result: Any,
    call_id: str | None = None,
    *,
    error: bool | None = None,
) -> Event:
    """Return a tool's result.

    Args:
        turn: The turn of its call.
        name: The tool.
        result: What came back, as text or as what JSON can hold; `None`: not captured.
        call_id: Pairs it with its call.
        error: Whether the source says that it failed; `None`: it does not say.
    """
    text = result if result is None or isinstance(result, str) else json.dumps(result)
    return {
        "turn": turn,
        "kind": "tool_result",
        "name": name,
        "result": text,
        "call_id": call_id,
        "error": error,
    }


def files(path: Path, pattern: str) -> Iterator[Path]:
    """Yield a file itself, or a folder's files of a pattern however deep, in order of their names.

    Raises:
        FileNotFoundError: There is nothing at the path.
    """
    if not path.exists():
        raise FileNotFoundError(path)
    yield from [path] if path.is_file() else sorted(path.rglob(pattern))
