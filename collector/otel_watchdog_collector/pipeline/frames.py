"""Several named byte strings in one, and back."""

from collections.abc import Iterable, Iterator
from typing import Final

from otel_watchdog.errors import InputError

_SIZE: Final = 8


def join(parts: Iterable[tuple[str, bytes]]) -> bytes:
    """Return all in one.

    >>> dict(split(join([("a", b"1"), ("b", b"")])))
    {'a': b'1', 'b': b''}
    """
    whole = bytearray()
    for name, body in parts:
        for part in (name.encode(), body):
            whole += len(part).to_bytes(_SIZE)
            whole += part
    return bytes(whole)


def split(whole: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what was joined.

    Raises:
        InputError: It was cut.
    """
    place = 0
    while place < len(whole):
        parts = []
        for _ in range(2):
            size = int.from_bytes(whole[place : place + _SIZE])
            place += _SIZE
            parts.append(whole[place : place + size])
            place += size
        if place > len(whole):
            raise InputError("a snapshot that was cut")
        yield parts[0].decode(), parts[1]
