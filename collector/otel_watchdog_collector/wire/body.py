"""Bodies of requests, decompressed within bounds."""

from typing import Final

from isal import isal_zlib

from otel_watchdog.errors import InputError, WatchdogError

_GZIP: Final = 31
"""Window bits of a gzip member, as zlib counts them."""


class BodyTooLarge(WatchdogError):  # noqa: N818 - says what it is, as the others do
    """A body is larger than allowed, as sent or after decompression."""


def gunzip(body: bytes, *, max_bytes: int) -> bytes:
    """Return what a gzip body holds; several members may follow each other.

    Args:
        body: As it was sent.
        max_bytes: Bytes after decompression that are allowed; no more than these are made.

    Raises:
        BodyTooLarge: There are more.
        InputError: It is no gzip, or was cut.
    """
    parts: list[bytes] = []
    left = max_bytes
    while body:
        member = isal_zlib.decompressobj(_GZIP)
        try:
            part = member.decompress(body, left + 1)
        except (isal_zlib.IsalError, EOFError) as error:  # type: ignore[misc] # an exception; the stub says otherwise
            raise InputError(f"the body is not gzip: {error}") from None
        left -= len(part)
        if left < 0:
            raise BodyTooLarge(f"the body holds more than {max_bytes} bytes")
        if not member.eof:
            raise InputError("the body is gzip that is cut")
        parts.append(part)
        body = member.unused_data
    return parts[0] if len(parts) == 1 else b"".join(parts)
