"""Tells a recording's form by its content, and reads it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from otel_watchdog import otlp
from otel_watchdog.errors import InputError
from otel_watchdog.otlp import Recorded
from otel_watchdog.recordings import json_stream, otlp_protobuf
from otel_watchdog.recordings.observation_lines import RecordedRun, run_of
from otel_watchdog.recordings.source import Source

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT: Final = 4096
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_OBJECT = re.compile(rb'\s*\{\s*(?:\}|"[^\x00-\x1f]|"?\Z)')
_LONE_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)"
    rb"(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def read(source: Source) -> Iterator[Recorded | RecordedRun]:
    """Yield spans and log records of an OTLP recording, or runs of one in observation lines.

    Raises:
        InputError: The recording cannot be read; the message names it and the place. What stood
            before the place was yielded, as far as it was whole.
    """
    head = source.head.removeprefix(_BYTE_ORDER_MARK)
    text = head.lstrip()
    if not text:
        source.check()
        raise InputError(f"{source.name}: is empty")
    if _OBJECT.match(head[:_LOOKED_AT]):
        yield from _read_json(source)
    elif head.startswith(_UTF_16):
        raise InputError(f"{source.name}: byte 0: is UTF-16; JSON must be UTF-8")
    elif _BINARY.search(head[:_LOOKED_AT]):
        yield from otlp_protobuf.read(source)
    elif text.startswith(b"{"):
        yield from _read_json(source)
    else:
        line, column = _place(head, len(head) - len(text))
        raise InputError(
            f"{source.name}:{line}:{column}: neither JSON nor OTLP protobuf: must begin with a "
            f"JSON object, got {text[:20].decode('utf-8', 'replace')!r}"
        )


def _read_json(source: Source) -> Iterator[Recorded | RecordedRun]:
    if _is_lines(source):
        source.is_sequence = True
        for number, line in source.lines():
            yield from _read_document(line, source, number)
    elif source.is_whole:
        source.check()
        yield from _read_document(source.head, source, 1)
    else:
        yield from json_stream.read(source)


def _is_lines(source: Source) -> bool:
    """Say whether the first line is an object by itself, and not the only one."""
    first, _, rest = source.head.removeprefix(_BYTE_ORDER_MARK).lstrip().partition(b"\n")
    if not rest.strip() and source.is_whole:
        return False
    try:
        orjson.loads(_mended(first))
    except orjson.JSONDecodeError:
        return False
    return bool(rest)


def _read_document(text: bytes, source: Source, line: int) -> Iterator[Recorded | RecordedRun]:
    document = _parsed(text.removeprefix(_BYTE_ORDER_MARK), source.name, line)
    place = f"{source.name}:{line}"
    try:
        yield from _items(document, line)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _items(document: object, line: int) -> Iterator[Recorded | RecordedRun]:
    if not isinstance(document, Mapping):
        raise InputError(f"must be a JSON object, got {type(document).__name__}")
    if json_stream.is_request(document):
        yield from _recorded(document)  # all of a document, or nothing
    else:
        yield run_of(document, line)


def _recorded(document: Mapping[str, Any]) -> list[Recorded]:
    return [*otlp.spans_of(document), *otlp.logs_of(document)]


def _parsed(text: bytes, name: str, first_line: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "surrogate" in error.msg and (mended := _mended(text)) != text:
            return _parsed(mended, name, first_line)
        line, column, why = error.lineno, error.colno, error.msg
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _place(text, error.start)
        why = "not UTF-8"
    raise InputError(f"{name}:{first_line + line - 1}:{column}: not JSON: {why}")


def _mended(text: bytes) -> bytes:
    """Replace halves of characters that programs leave where they cut a text in two."""
    if b"\\ud" not in text and b"\\uD" not in text:
        return text
    return _LONE_SURROGATE.sub(lambda m: m[1] + (m[2] or rb"\ufffd"), text)


def _place(text: bytes, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count(b"\n") + 1, index - before.rfind(b"\n")
