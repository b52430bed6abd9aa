"""Reads what traces carry as content: texts, and placeholders for them.

Unknown is a value: a placeholder or a cut value becomes `None`, never an equal string.
"""

import ast
from collections.abc import Mapping
from typing import Any, Final

import orjson

PLACEHOLDERS: Final = frozenset(
    {
        "__REDACTED__",
        "<REDACTED>",
        "[REDACTED]",
        "<not serializable>",
        "<not specified>",
        "[filtered]",
    }
)
"""Texts that stand where content was taken out; read off recorded spans."""

_SCRUBBED = "[Scrubbed due to"
_OPENERS = frozenset(text[0] for text in PLACEHOLDERS)


def known(text: str | None) -> str | None:
    """Return `text`, or `None` where it only says that content was taken out.

    >>> known("__REDACTED__") is None
    True
    """
    if text and text[0] in _OPENERS and (text in PLACEHOLDERS or text.startswith(_SCRUBBED)):
        return None
    return text


def text_of(value: object) -> str | None:
    """Return a content value as text: text as it is, anything else as JSON; `None` if unknown.

    A list of text blocks, as MCP and Anthropic send results, is their text.

    >>> text_of([{"type": "text", "text": "done"}])
    'done'
    >>> text_of({"b": 1, "a": None})
    '{"b":1,"a":null}'
    """
    if isinstance(value, str):
        return known(value)
    if value is None:
        return None
    blocks = text_blocks(value)
    if blocks is not None:
        return blocks
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return str(value)


def text_blocks(value: object) -> str | None:
    """Return the text of a list of text blocks; `None` where it is no such list."""
    if not isinstance(value, list | tuple) or not value:
        return None
    texts = []
    for item in value:
        text = item.get("text", item.get("content")) if isinstance(item, dict) else None
        if not isinstance(text, str):
            return None
        texts.append(text)
    return "\n".join(texts)


def attribute_text(value: object) -> str | None:
    """Return an attribute's value as text; `None` for what is absent, empty or a placeholder.

    >>> attribute_text("") is None
    True
    """
    if isinstance(value, str):
        return known(value) or None
    return text_of(value)


def first_of(attributes: Mapping[str, Any], *names: str) -> Any:
    """Return the first of the named attributes that is there, else `None`.

    >>> first_of({"new": 1, "old": 2}, "newest", "new", "old")
    1
    """
    for name in names:
        value = attributes.get(name)
        if value is not None:
            return value
    return None


def string(attributes: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of the named attributes that is a text and not empty, else `None`.

    >>> string({"a": "", "b": 3, "c": "x"}, "a", "b", "c")
    'x'
    """
    for name in names:
        value = attributes.get(name)
        if value and type(value) is str:
            return value
    return None


def whole_number(value: object) -> int | None:
    """Return a count as an `int`; `None` for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def parsed(text: str) -> Any:
    """Return what a text says in JSON or as a Python `repr`; `None` where it is neither.

    >>> parsed("{'ok': True, 'n': None}")
    {'ok': True, 'n': None}
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    return literal(text) if text[:1] in _REPR_OPENERS else None


def literal(text: str) -> Any:
    """Return what a Python `repr` of plain values says; `None` where it is none, or a long one."""
    if len(text) > _MAX_REPR_CHARS:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


_REPR_OPENERS = frozenset("{[(")
_MAX_REPR_CHARS = 20_000
"""A `repr` that is longer is not worth its price on the traced program's thread."""
