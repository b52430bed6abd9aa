"""Reads and answers requests that hold all in text fields, `[[ ## name ## ]]`, as DSPy's do.

Such a request is one user message, with what was called and what came of it in fields of a name
and a number. Fields of other names are what the user said.
"""

import json
import re
from typing import Any

FIELD = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
ASKED = re.compile(r"`\[\[ ## (\w+) ## \]\]`")
TOOL = re.compile(r"^ *\(\d+\) (\w+), whose description is", re.MULTILINE)
TRAILER = "Respond with the corresponding output fields"
ROLES = {"thought": "assistant", "tool_name": "call", "observation": "result"}
NEXT_TOOL = "next_tool_name"


def asked_fields(body: dict[str, Any]) -> list[str]:
    """Return the fields that the answer is to have; none, if the request is of another kind."""
    messages = body.get("messages") or [{}]
    content = messages[-1].get("content")
    if not isinstance(content, str) or TRAILER not in content:
        return []
    return [name for name in ASKED.findall(content.rpartition(TRAILER)[2]) if name != "completed"]


def tools_in(body: dict[str, Any]) -> list[str]:
    """Return the names of the tools that the instructions describe."""
    return TOOL.findall(body["messages"][0]["content"])


def read_fields(content: str) -> list[tuple[str, str]]:
    """Return who said what in a user message."""
    parts = FIELD.split(content.rpartition(TRAILER)[0])
    entries = []
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        kind = re.sub(r"_\d+$", "", name)
        if kind != "tool_args" and text.strip():
            entries.append((ROLES.get(kind, "user"), text.strip()))
    return entries


def as_fields(fields: list[str], text: str, calls: list[dict[str, Any]]) -> str:
    """Return an answer of the given fields: the first of the calls, or the text in each."""
    values = dict.fromkeys(fields, text)
    if NEXT_TOOL in fields:
        call = calls[0] if calls else {"name": "finish", "args": {}}
        values |= {NEXT_TOOL: call["name"], "next_tool_args": json.dumps(call["args"])}
    told = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*told, "[[ ## completed ## ]]"])
