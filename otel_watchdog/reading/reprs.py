"""Reads messages that were recorded as the `repr` of Python objects."""

import ast
import re
from collections.abc import Mapping
from typing import Any, Final

MAX_CHARS: Final = 20_000
"""A `repr` that is longer is not worth its price on the traced program's thread."""

_MEMBER: Final = re.compile(r"<\w+\.\w+: ('\w+')>")
_PARTS: Final = {"ToolCall": "tool_call", "ToolCallResult": "tool_call_result"}
"""Parts of a message that Haystack wraps, by class."""


def message_in(text: str) -> Mapping[str, Any] | None:
    """Return the message in the `repr` of Haystack's `ChatMessage`, as its `to_dict` writes it.

    `None` where it is none, or longer than `MAX_CHARS`. Nothing is run: only literals and calls
    with names are read.

    >>> text = "ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='go')])"
    >>> message_in(text)
    {'role': 'user', 'content': [{'text': 'go'}]}
    """
    if not text.startswith("ChatMessage(") or len(text) > MAX_CHARS:
        return None
    try:
        tree = ast.parse(_MEMBER.sub(r"\1", text, count=1), mode="eval")
        fields = _fields(tree.body)
        parts = fields["_content"]
        return {"role": fields["_role"], "content": [_wrapped(part) for part in parts]}
    except (SyntaxError, ValueError, TypeError, KeyError, MemoryError, RecursionError):
        return None


def _fields(node: ast.AST) -> dict[str, Any]:
    """Return the arguments of a call by name."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        raise TypeError("no object with named fields")
    return {item.arg: _value(item.value) for item in node.keywords if item.arg}


def _value(node: ast.expr) -> Any:
    """Return a literal, an object's fields, or a list of objects as they are written."""
    if isinstance(node, ast.Call):
        return _fields(node)
    if isinstance(node, ast.List) and any(isinstance(item, ast.Call) for item in node.elts):
        return list(node.elts)
    return ast.literal_eval(node)


def _wrapped(part: object) -> dict[str, Any]:
    """Return a part of a message under the name that `to_dict` gives its class."""
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Name):
        raise TypeError("no part of a message")
    name = _PARTS.get(part.func.id)
    return {name: _fields(part)} if name else _fields(part)
