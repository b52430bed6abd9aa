"""Reads requests in four providers' wire formats, and says what the provider would reject.

Rejected is what stands between tool calls and their results, unknown roles, unanswered calls.
"""

import json
from typing import Any

from tests.integration.adapters.field_messages import asked_fields, read_fields, tools_in

MARKER = "[watchdog]"


def tools_of(body: dict[str, Any]) -> list[str]:
    """Return the names of the tools that a request offers."""
    if asked_fields(body):
        return tools_in(body)
    found = []
    for tool in body.get("tools") or []:
        if "function" in tool:
            found.append(tool["function"]["name"])
        elif "name" in tool:
            found.append(tool["name"])
        declared = tool.get("functionDeclarations") or tool.get("function_declarations") or []
        found += [function["name"] for function in declared]
    return found


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(part.get("text", "") for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def read_request(body: dict[str, Any]) -> tuple[list[tuple[str, str]], str]:
    """Return who said what, and what the provider would reject; "" if nothing."""
    if "contents" in body:
        return _read_gemini(body["contents"])
    if "input" in body:
        return _read_responses(body["input"])
    if "system" in body or any(
        isinstance(m.get("content"), list)
        and any(p.get("type") in {"tool_use", "tool_result"} for p in m["content"])
        for m in body.get("messages", [])
    ):
        return _read_anthropic(body["messages"])
    if asked_fields(body):
        return read_fields(body["messages"][-1]["content"]), ""
    return _read_chat(body.get("messages", []))


def _read_chat(messages: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], str]:
    entries: list[tuple[str, str]] = []
    waiting: set[str] = set()
    for message in messages:
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                return entries, "messages with role 'tool' must follow a message with 'tool_calls'"
            waiting.discard(message["tool_call_id"])
            entries.append(("result", _text(message.get("content"))))
            continue
        if waiting:
            return entries, (
                "An assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id': {sorted(waiting)}"
            )
        if role not in {"system", "developer", "user", "assistant"}:
            return entries, f"invalid role {role!r}"
        entries.append((role, _text(message.get("content"))))
        for call in message.get("tool_calls") or []:
            waiting.add(call["id"])
            entries.append(("call", call["function"]["name"]))
    return entries, f"unanswered tool calls: {sorted(waiting)}" if waiting else ""


def _read_responses(items: Any) -> tuple[list[tuple[str, str]], str]:
    if isinstance(items, str):
        return [("user", items)], ""
    entries: list[tuple[str, str]] = []
    waiting: set[str] = set()
    for item in items:
        kind = item.get("type") or "message"
        if kind == "function_call":
            waiting.add(item["call_id"])
            entries.append(("call", item["name"]))
        elif kind == "function_call_output":
            waiting.discard(item["call_id"])
            entries.append(("result", _text(item["output"])))
        elif kind == "message":
            if waiting:
                return entries, f"No tool output found for function calls {sorted(waiting)}"
            entries.append((item["role"], _text(item.get("content"))))
    return entries, f"No tool output found for {sorted(waiting)}" if waiting else ""


def _read_anthropic(messages: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], str]:  # noqa: C901 - one provider's rules
    entries: list[tuple[str, str]] = []
    waiting: set[str] = set()
    for message in messages:
        role, content = message["role"], message["content"]
        if role not in {"user", "assistant", "system"}:
            return entries, f"messages: unexpected role {role!r}"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [b for b in blocks if b.get("type") == "tool_result"]
        if waiting:
            answered = {b["tool_use_id"] for b in results}
            if role != "user" or not waiting <= answered:
                return (
                    entries,
                    "`tool_use` ids were found without `tool_result` blocks immediately after",
                )
            if any(b.get("type") != "tool_result" for b in blocks[: len(results)]):
                return entries, "`tool_result` blocks must come first in the message"
            waiting = set()
        for block in blocks:
            if block.get("type") == "tool_result":
                entries.append(("result", _text(block.get("content"))))
                if MARKER in _text(block.get("content")):
                    entries.append(("user", _text(block.get("content"))))
            elif block.get("type") == "tool_use":
                waiting.add(block["id"])
                entries.append(("call", block["name"]))
            elif block.get("type") == "text":
                entries.append((role, block["text"]))
    return entries, f"unanswered tool_use: {sorted(waiting)}" if waiting else ""


def _read_gemini(contents: list[dict[str, Any]]) -> tuple[list[tuple[str, str]], str]:
    entries: list[tuple[str, str]] = []
    waiting = 0
    for content in contents:
        parts = content.get("parts") or []
        answers = [p for p in parts if "functionResponse" in p or "function_response" in p]
        if waiting != len(answers):
            return entries, (
                "the number of function response parts must be equal to the number of function "
                "call parts of the function call turn"
            )
        waiting = 0
        for part in parts:
            if "functionCall" in part or "function_call" in part:
                waiting += 1
                entries.append(
                    ("call", (part.get("functionCall") or part["function_call"])["name"])
                )
            elif part in answers:
                entries.append(("result", json.dumps(part)))
            else:
                role = "assistant" if content.get("role") == "model" else "user"
                entries.append((role, part.get("text", "")))
    return entries, ""
