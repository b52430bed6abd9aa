"""Takes arguments and results out of the wrappings that frameworks put around them.

One tool call is recorded in many forms; only what is inside can be compared.
"""

import re
import string
from typing import Any, Final, NamedTuple

import orjson

from otel_watchdog.reading.content import (
    attribute_text,
    known,
    literal,
    parsed,
    text_blocks,
    text_of,
)


class Request(NamedTuple):
    """A tool call's arguments out of the wrapping that a framework puts around them."""

    arguments: str | None = None
    """JSON text; `None` if not captured."""
    call_id: str | None = None


_NO_REQUEST = Request()
_REQUEST_KEYS = frozenset(
    {
        "args",
        "callbacks",
        "input_str",
        "inputs",
        "kwargs",
        "metadata",
        "sanitize_inputs_outputs",
        "tags",
    }
)
_SCALAR_HEADS = frozenset('"[-0123456789tfn')


def request_of(value: object) -> Request:
    """Return the arguments that an attribute holds.

    Read are JSON objects, the envelopes of LangChain, LlamaIndex, smolagents and decorators
    (`{"args": [], "kwargs": {…}}`), `repr` of Python values, and the bare value of a tool that
    takes one.

    >>> request_of('{"args": [], "kwargs": {"path": "a.go"}}').arguments
    '{"path":"a.go"}'
    >>> request_of("a.go").arguments
    '"a.go"'
    """
    text = attribute_text(value)
    if text is None:
        return _NO_REQUEST
    if text[0] == "{":
        if '"kwargs"' in text or '"input_str"' in text:
            return _unwrapped_request(text)
        if text[1:2] != "'":
            return Request(text)
        value = parsed(text)
        return Request(text if value is None else text_of(value))
    if text[0] in _SCALAR_HEADS:
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
        else:
            return Request(text)
    return Request(orjson.dumps(text, default=str).decode("utf-8", "replace"))


def _unwrapped_request(text: str) -> Request:
    envelope = parsed(text)
    if not isinstance(envelope, dict) or not envelope.keys() <= _REQUEST_KEYS:
        return Request(text)
    named = envelope.get("kwargs")
    call_id = named.get("tool_call_id") if isinstance(named, dict) else None
    inner = envelope.get("inputs")
    if inner is None and isinstance(envelope.get("input_str"), str):
        inner = parsed(envelope["input_str"]) or envelope["input_str"]
    if inner is None:
        inner = named or envelope.get("args") or {}
    if isinstance(inner, str):
        inner = parsed(inner) or inner
    return Request(orjson.dumps(inner, default=str).decode(), str(call_id) if call_id else None)


class Answer(NamedTuple):
    """What a tool gave back, out of the wrapping that a framework puts around it."""

    text: str | None = None
    """`None` if not captured."""
    call_id: str | None = None
    failed: bool | None = None


_NO_ANSWER = Answer()
_WRAPPED_HEADS = frozenset('{["s')
PLAIN_HEADS: Final = frozenset(string.ascii_letters + string.digits + "/.-# ") - _WRAPPED_HEADS
"""First characters of texts that are neither wrapped nor placeholders: most results."""
_WRAPPING_SIGNS = ('"tool_call_id"', '"raw_output"', '"response"')
_IDENTIFIED = (
    (frozenset({"id", "name", "response"}), "response", "id"),  # Gemini
    (frozenset({"tool_name", "tool_output", "tool_id"}), "tool_output", "tool_id"),  # LlamaIndex
)
_MAX_WRAPPINGS = 3


def answer_of(value: object) -> Answer:
    """Return the tool's answer that an attribute or a message holds.

    Read are plain text, JSON-quoted text, MCP content blocks, LangChain's `ToolMessage` in each
    of its serialisations, LlamaIndex's `ToolOutput`, and the `{"result": …}` around a plain value
    that Gemini and ADK ask for.

    >>> answer_of('{"type": "tool", "data": {"content": "done", "tool_call_id": "c1"}}')
    Answer(text='done', call_id='c1', failed=None)
    >>> answer_of('{"result": "done"}').text, answer_of('"done"').text
    ('done', 'done')
    """
    if not isinstance(value, str):
        return _NO_ANSWER if value is None else _unwrapped_answer(value) or Answer(text_of(value))
    text = known(value) or None
    if text is None or text[0] not in _WRAPPED_HEADS:
        return _NO_ANSWER if text is None else Answer(text)
    if text[0] == "s":
        return _agno_answer(text)
    if not _looks_wrapped(text):
        return Answer(text)
    try:
        return _unwrapped_answer(orjson.loads(text)) or Answer(text)
    except orjson.JSONDecodeError:
        return Answer(text)


_AGNO_RESULT = re.compile(
    r"status='(\w+)' result=(.*) error=(None|'.*'|\".*\") updated_session_state=", re.DOTALL
)


def _agno_answer(text: str) -> Answer:
    """Read the `repr` of Agno's `FunctionExecutionResult`."""
    match = _AGNO_RESULT.match(text)
    if match is None:
        return Answer(text)
    status, result, error = match.groups()
    if status == "failure":
        return Answer(literal(error) or error, failed=True)
    told = literal(result)
    return Answer(result if told is None else text_of(told))


def _looks_wrapped(text: str) -> bool:
    if text[0] == "{":
        return text.startswith(('{"result"', '{"type"')) or (
            any(sign in text for sign in _WRAPPING_SIGNS)
        )
    return text[0] == '"' or text.startswith(('[{"type"', '[{"text"'))


def _unwrapped_answer(value: object) -> Answer | None:
    """Return the answer inside; `None` where there is no wrapping."""
    if isinstance(value, str):
        return Answer(known(value))
    if isinstance(value, list):
        blocks = text_blocks(value)
        return Answer(blocks) if blocks is not None else None
    return _unwrapped_object(value) if isinstance(value, dict) else None


def _unwrapped_object(value: dict[str, Any]) -> Answer | None:
    if value.keys() == {"type", "value"}:
        failed = str(value["type"]).startswith("error") or None
        return Answer(text_of(value["value"]), failed=failed)
    if value.keys() == {"result"}:
        return Answer("null" if value["result"] is None else text_of(value["result"]))
    for keys, inside, named in _IDENTIFIED:
        if value.keys() >= keys:
            inner, call_id = value[inside], value[named]
            answer = _unwrapped_answer(inner) or Answer(text_of(inner))
            return answer._replace(call_id=str(call_id) if call_id else None)
    if "raw_output" in value:
        content = value["raw_output"] if value.get("blocks") is None else value["blocks"]
        return Answer(text_of(content), failed=value.get("is_error") or None)
    return _tool_message(value)


def _tool_message(value: dict[str, Any]) -> Answer | None:
    for _ in range(_MAX_WRAPPINGS):
        if "tool_call_id" in value and "content" in value:
            call_id = value["tool_call_id"]
            return Answer(
                text_of(value["content"]),
                str(call_id) if call_id else None,
                value.get("status") == "error" or None,
            )
        inner = [value.get(key) for key in ("output", "data", "kwargs")]
        found = next((item for item in inner if isinstance(item, dict)), None)
        if found is None:
            return None
        value = found
    return None
