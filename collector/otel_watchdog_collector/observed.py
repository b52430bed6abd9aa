"""What an agent did, as it is kept: an observation as JSON would have it, and back.

Texts are kept without secrets, and long ones cut: what is cut ends with a digest of the whole, so
that equal texts stay equal and different ones different.
"""

from collections.abc import Mapping
from typing import Any, Final

import xxhash

from otel_watchdog.model import (
    ModelTurn,
    Observation,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.redaction import redacted

_WORDS: Final[Mapping[type[Observation], str]] = {
    RunStarted: "run_started",
    ModelTurn: "model_turn",
    ToolCall: "tool_call",
    ToolResult: "tool_result",
    UserMessage: "user_message",
    RunEnded: "run_ended",
}
_KINDS: Final = {word: kind for kind, word in _WORDS.items()}
_TEXTS: Final = frozenset({"text", "reasoning", "arguments", "result", "error"})
_MARGIN: Final = 512
"""Characters behind the cut that are read, too: a secret is not shown by cutting through it."""
_LEFT_OUT: Final = frozenset({"session", "run"})
"""What stands beside the observations, once for many."""


def plain(observation: Observation, max_chars: int) -> dict[str, Any]:
    """Return an observation as JSON would have it, without what is not known.

    Args:
        observation: It.
        max_chars: Of each text, at most.

    >>> plain(ToolCall("s", 3, "ls", '{"token": "abc"}'), 100)
    {'kind': 'tool_call', 'turn': 3, 'name': 'ls', 'arguments': '{"token": "[redacted]"}'}
    """
    kept: dict[str, Any] = {"kind": _WORDS[type(observation)]}
    for name, value in observation._asdict().items():
        if value is None or name in _LEFT_OUT:
            continue
        if name in _TEXTS:
            kept[name] = shortened(value, max_chars)
        else:
            kept[name] = value.value if isinstance(value, ToolOutcome) else value
    return kept


def observation_of(fields: Mapping[str, Any], session: str, run: str | None) -> Observation:
    """Return the observation that `plain` made this of.

    Raises:
        KeyError, TypeError, ValueError: It was written by another version.
    """
    given = {name: value for name, value in fields.items() if name != "kind"}
    kind = _KINDS[fields["kind"]]
    if kind in {RunStarted, RunEnded}:
        given["run"] = run or ""
    if kind is ToolResult:
        given["outcome"] = ToolOutcome(given.get("outcome", ToolOutcome.UNKNOWN.value))
    return kind(session=session, **given)


def shortened(text: str, max_chars: int) -> str:
    """Return a text without secrets, of `max_chars` and what tells it from others.

    >>> shortened("x" * 50, 10)
    'xxxxxxxxxx… [50 characters, 8b44109c]'
    """
    if len(text) <= max_chars:
        return redacted(text)
    digest = xxhash.xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass"))[:8]
    head = redacted(text[: max_chars + _MARGIN])[:max_chars]
    return f"{head}… [{len(text)} characters, {digest}]"
