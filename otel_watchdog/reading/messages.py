"""Messages between a model and its agent, in whatever shape they were recorded.

Accepted are GenAI parts, OpenAI chat and Responses, Anthropic, Bedrock, Gemini, Vercel and
Haystack content blocks, LangChain's serialised messages, and messages that were flattened into
attributes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from otel_watchdog.reading.content import attribute_text, known, text_of
from otel_watchdog.reading.reprs import message_in
from otel_watchdog.reading.wrappings import answer_of

ANSWERERS: Final = frozenset({"assistant", "model", "ai"})
"""Roles of a model's own messages."""


@dataclass(slots=True, kw_only=True)
class CallPart:
    """A tool call that a model asks for."""

    name: str
    arguments: str | None = None
    """JSON text; `None` if not captured."""
    call_id: str | None = None


@dataclass(slots=True, kw_only=True)
class ResultPart:
    """A tool's answer, as the model is given it."""

    content: str | None = None
    call_id: str | None = None
    name: str = ""
    is_error: bool | None = None


@dataclass(slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: str
    text: str | None = None
    reasoning: str | None = None
    calls: list[CallPart] = field(default_factory=list)
    results: list[ResultPart] = field(default_factory=list)


def read_messages(text: str) -> list[Message]:
    """Read JSON text as messages; text that is no JSON is one message of an unknown role.

    >>> read_messages('[{"role":"user","parts":[{"type":"text","content":"hi"}]}]')[0].text
    'hi'
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return [Message(role="", text=known(text))]
    return messages_of(value)


def messages_of(value: object) -> list[Message]:
    """Read a parsed value as messages; what is no message is left out."""
    if isinstance(value, Mapping):
        for key in _LISTS:
            nested = value.get(key)
            if isinstance(nested, list):
                return messages_of(nested)
        return [message_of(value)]
    if isinstance(value, list):
        flat = value[0] if len(value) == 1 and isinstance(value[0], list) else value
        items = (message_in(item) if isinstance(item, str) else item for item in flat)
        return [message_of(item) for item in items if isinstance(item, Mapping)]
    return [Message(role="", text=value)] if isinstance(value, str) else []


_LISTS: Final = ("messages", "contents", "choices", "generations", "replies")
"""Where an object around messages has them."""
_WRAPS: Final = ("message", "kwargs", "content")
"""Where an object around one message has it."""


def _unwrapped(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message in a choice, a generation, a LangChain constructor or a candidate."""
    for key in _WRAPS:
        inner = value.get(key)
        if isinstance(inner, Mapping) and (key == "kwargs" or not _MESSAGE_KEYS.isdisjoint(inner)):
            return _unwrapped(inner)
    return value


_MESSAGE_KEYS: Final = frozenset({"role", "parts", "kwargs", "tool_calls"})


def message_of(value: Mapping[str, Any]) -> Message:
    """Read one message in any of the accepted shapes."""
    value = _unwrapped(value)
    message = Message(role=str(value.get("role") or value.get("type") or ""))
    for part in _parts(value):
        _add_part(message, part)
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            message.calls.append(call_of(call))
    if message.role in _RESULT_ROLES and not message.results:
        _add_result(message, value)
    return message


def _add_result(message: Message, value: Mapping[str, Any]) -> None:
    """Read a message that is a tool's answer as a whole."""
    content = value.get("content", value.get("output"))
    if isinstance(content, Mapping) and "function" in content:
        return  # a tool's definition, which Langfuse shows as a message
    answer = answer_of(content if content is not None else message.text)
    message.text = None
    message.results.append(
        ResultPart(
            content=answer.text,
            call_id=_id_of(value) or answer.call_id,
            name=str(value.get("name") or ""),
            is_error=answer.failed,
        )
    )


_RESULT_ROLES = frozenset({"tool", "function", "function_call_output"})


def _parts(value: Mapping[str, Any]) -> Sequence[Any]:
    for key in ("parts", "content", "contents", "output"):
        part = value.get(key)
        if isinstance(part, list):
            return part
        if part is not None:
            return (part,)
    if value.get("type") in _CALL_TYPES:
        return (value,)
    return ()


_CALL_TYPES = frozenset({"tool_call", "tool_use", "function_call", "tool-call"})
_RESULT_TYPES = frozenset(
    {"tool_call_response", "tool_result", "function_call_output", "tool-result"}
)
_CALL_KEYS = ("toolUse", "functionCall", "function_call", "tool_call")
_RESULT_KEYS = ("toolResult", "functionResponse", "function_response", "tool_call_result")
"""Where a part without a type has the call or the result that it is."""
_THOUGHT_TYPES = frozenset({"reasoning", "thinking", "thought"})


def _add_part(message: Message, part: object) -> None:
    if isinstance(part, str):
        message.text = _joined(message.text, known(part))
        return
    if not isinstance(part, Mapping):
        return
    kind = part.get("type")
    if kind is None and _add_nested(message, part):
        return
    if kind in _CALL_TYPES:
        message.calls.append(call_of(part))
    elif kind in _RESULT_TYPES:
        message.results.append(result_of(part))
    elif kind in _THOUGHT_TYPES:
        thought = part.get("content") or part.get("thinking") or part.get("text")
        message.reasoning = _joined(message.reasoning, text_of(thought))
    else:
        said = part.get("content", part.get("text"))
        message.text = _joined(message.text, text_of(said) if said is not None else None)


def _add_nested(message: Message, part: Mapping[str, Any]) -> bool:
    """Add the call or result that a part of Bedrock, Gemini or Haystack holds, if it holds one."""
    for key in _CALL_KEYS:
        inner = part.get(key)
        if isinstance(inner, Mapping):
            message.calls.append(call_of(inner))
            return True
    for key in _RESULT_KEYS:
        inner = part.get(key)
        if isinstance(inner, Mapping):
            message.results.append(result_of(inner))
            return True
    return False


def call_of(part: Mapping[str, Any]) -> CallPart:
    """Read a tool call: GenAI part, OpenAI `tool_calls` item, Anthropic `tool_use` block."""
    function = part.get("function")
    inner = function if isinstance(function, Mapping) else part
    arguments = inner.get("arguments", inner.get("input", inner.get("args")))
    return CallPart(
        name=_name_of(inner),
        arguments=text_of(arguments),
        call_id=_id_of(part),
    )


def result_of(part: Mapping[str, Any]) -> ResultPart:
    """Read a tool's answer: GenAI part, Anthropic `tool_result` block."""
    content = part.get("response", part.get("result", part.get("content", part.get("output"))))
    origin = part.get("origin")
    flag = part.get("is_error", part.get("error") if origin is not None else None)
    if part.get("status") == "error":
        flag = True
    answer = answer_of(content)
    named = origin if isinstance(origin, Mapping) else part
    return ResultPart(
        content=answer.text,
        call_id=_id_of(named) or answer.call_id,
        name=_name_of(named),
        is_error=flag if isinstance(flag, bool) else answer.failed,
    )


def _name_of(part: Mapping[str, Any]) -> str:
    found = part.get("name") or part.get("toolName") or part.get("tool_name")
    return str(found) if found else ""


def _id_of(part: Mapping[str, Any]) -> str | None:
    for key in _ID_KEYS:
        found = part.get(key)
        if found:
            return str(found)
    return None


_ID_KEYS: Final = ("tool_call_id", "tool_use_id", "call_id", "toolUseId", "toolCallId", "id")


def _joined(before: str | None, more: str | None) -> str | None:
    if before is None or more is None:
        return more if before is None else before
    return f"{before}\n{more}"


class Layout(NamedTuple):
    """Where the parts of a flattened message stand, as endings of attribute names."""

    message: str
    """Between the message's index and its fields."""
    call: str
    """Between a tool call's index and its id."""
    function: str
    """Between a tool call's index and its name and arguments."""
    block: str
    """Between a content block's index and its text; "" where there are no blocks."""


_MAX_GAP = 2
"""Indices in a row that may be missing: some count a text block before the first tool call."""


def flat_message(attributes: Mapping[str, Any], prefix: str, layout: Layout) -> Message | None:
    """Read the message whose attribute names begin with `prefix`; `None` where there is none."""
    at = prefix + layout.message
    role = attributes.get(f"{at}.role")
    content = attributes.get(f"{at}.content")
    calls = _flat_calls(attributes, at, layout)
    if role is None and content is None and not calls:
        return None
    message = Message(role=str(role or ""), calls=calls)
    if message.role in _RESULT_ROLES:
        call_id = attributes.get(f"{at}.tool_call_id")
        answer = answer_of(content)
        message.results.append(
            ResultPart(
                content=answer.text,
                call_id=str(call_id) if call_id else answer.call_id,
                name=str(attributes.get(f"{at}.name") or ""),
                is_error=answer.failed,
            )
        )
    elif isinstance(content, str) and content.startswith("[{") and '"type"' in content:
        for part in read_messages(f'{{"role":"","content":{content}}}'):
            message.text = part.text
            message.results += part.results
    else:
        message.text = attribute_text(content) or _flat_text(attributes, at, layout)
    return message


def _flat_calls(attributes: Mapping[str, Any], at: str, layout: Layout) -> list[CallPart]:
    calls: list[CallPart] = []
    index = gap = 0
    while gap < _MAX_GAP:
        call = f"{at}.tool_calls.{index}"
        name = attributes.get(f"{call}{layout.function}.name")
        index += 1
        if name is None:
            gap += 1
            continue
        gap = 0
        call_id = attributes.get(f"{call}{layout.call}.id")
        arguments = attribute_text(attributes.get(f"{call}{layout.function}.arguments"))
        calls.append(
            CallPart(name=str(name), arguments=arguments, call_id=str(call_id) if call_id else None)
        )
    return calls


def _flat_text(attributes: Mapping[str, Any], at: str, layout: Layout) -> str | None:
    said: str | None = None
    index = 0
    while layout.block:
        block = f"{at}.contents.{index}{layout.block}"
        text = attributes.get(f"{block}.text")
        if text is None and f"{block}.type" not in attributes:
            break
        said = _joined(said, attribute_text(text))
        index += 1
    return said
