"""Reads server-sent events, and the corrections in them."""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import orjson

from otel_watchdog.errors import InputError
from otel_watchdog.model import MARKER, Correction, Finding, Kind, Mode, Severity, Tier

MAX_LINE_BYTES: Final = 256 * 1024
MAX_EVENT_BYTES: Final = 1024 * 1024
MAX_MESSAGE_CHARS: Final = 16_000
MAX_FINDINGS: Final = 16
MAX_TEXT_CHARS: Final = 4_000
MAX_ID_CHARS: Final = 128


class Event(NamedTuple):
    """One event of a stream."""

    id: str
    """The last id that the stream gave; "" before the first."""
    name: str
    data: str


def events(readline: Callable[[int], bytes], *, last_id: str = "") -> Iterator[Event]:
    r"""Read events until the stream ends; an unfinished one at its end is none.

    >>> import io
    >>> stream = io.BytesIO(b": hi\n\nid: 7\nevent: correction\ndata: {}\n\ndata: unfinished\n")
    >>> list(events(stream.readline))
    [Event(id='7', name='correction', data='{}')]

    Args:
        readline: Reads a line of so many bytes at most; b"" at the end.
        last_id: The id that the stream goes on from.

    Raises:
        InputError: A line or an event is too long.
    """
    name, data, size = "message", list[str](), 0
    while True:
        raw = readline(MAX_LINE_BYTES)
        if not raw:
            return
        if len(raw) >= MAX_LINE_BYTES:
            raise InputError(f"a line of {MAX_LINE_BYTES} bytes or more")
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if data:
                yield Event(last_id, name, "\n".join(data))
            name, data, size = "message", [], 0
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            size += len(raw)
            if size > MAX_EVENT_BYTES:
                raise InputError(f"an event of more than {MAX_EVENT_BYTES} bytes")
            data.append(value)
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id = value


def correction(data: str, *, session: str) -> Correction:
    """Read the correction in an event's data, which is not trusted.

    Args:
        data: A JSON object, as the service's feedback API writes it.
        session: Whose correction it is here.

    Raises:
        InputError: It is no correction.
    """
    try:
        given = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"no correction: {error}") from None
    return as_correction(given, session=session)


def as_correction(given: Any, *, session: str) -> Correction:
    """Read a correction as `correction` does, of what was JSON.

    Raises:
        InputError: It is no correction.
    """
    try:
        findings = tuple(_finding(finding) for finding in given["findings"][:MAX_FINDINGS])
        read = Correction(
            id=_text(given["id"], MAX_ID_CHARS),
            session=session,
            run=_text(given["run"], MAX_ID_CHARS),
            agent=None if given["agent"] is None else _text(given["agent"], MAX_TEXT_CHARS),
            turn=_count(given["turn"]),
            n=_count(given["n"]),
            tier=Tier(_count(given["tier"])),
            mode=Mode[_text(given["mode"], MAX_ID_CHARS).upper()],
            findings=findings,
            message=_text(given["message"], MAX_MESSAGE_CHARS),
            max_turns=None if given["max_turns"] is None else _count(given["max_turns"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"no correction: {type(error).__name__}: {error}") from None
    if not findings or not read.message.startswith(MARKER):
        raise InputError(f"no correction: has no finding, or does not start with {MARKER}")
    return read


def _finding(given: Any) -> Finding:
    return Finding(
        detector=_text(given["detector"], MAX_ID_CHARS),
        kind=Kind(given["kind"]),
        severity=Severity(given["severity"]),
        reason=_text(given["reason"], MAX_TEXT_CHARS),
        guidance=_text(given["guidance"], MAX_TEXT_CHARS),
        evidence={
            str(name): value
            for name, value in given.get("evidence", {}).items()
            if isinstance(value, str | int | float)
        },
    )


def _text(value: object, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise TypeError(f"text of at most {most} characters needed")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("a count is needed")
    return value
