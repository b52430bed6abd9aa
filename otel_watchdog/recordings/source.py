"""A file's bytes, gzipped or not, with a head to look at and a clear error where they end."""

import contextlib
import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

from otel_watchdog.errors import InputError

HEAD_BYTES: Final = 8 * 1024 * 1024
"""Bytes that are looked at to tell a file's form; what is no longer is read at once."""

STANDARD_INPUT: Final = "-"
"""Path that names standard input."""

_GZIP: Final = b"\x1f\x8b"
_CHUNK: Final = 256 * 1024

ReadListener = Callable[[int], None]
"""Called with the number of bytes that were just read from the file, still packed."""


class Source:
    """Bytes to read, unpacked.

    Args:
        name: What errors call it.
        raw: Where the bytes come from; need not seek.
        on_read: Told of each piece that was read, for progress.
        head_bytes: Length of the head.
    """

    def __init__(
        self,
        name: str,
        raw: BinaryIO,
        *,
        on_read: ReadListener | None = None,
        head_bytes: int = HEAD_BYTES,
    ) -> None:
        self.name = name
        packed = _Packed(raw, on_read)
        self._packed = packed
        self._stream: Any = packed
        if packed.first == _GZIP:
            self._stream = gzip.GzipFile(fileobj=io.BufferedReader(packed, _CHUNK))
        self._error: InputError | None = None
        self.head = self._fill(head_bytes)
        """The first bytes; all of them if `is_whole`."""
        self.is_whole = len(self.head) < head_bytes
        self.is_sequence = False
        """Whether each of its parts is whole by itself; set as it is read."""
        self.bytes = io.BufferedReader(_Joined(self.head, self._pull), _CHUNK)
        """All bytes, from the first; it ends early where they cannot be read: then `check`."""

    def check(self) -> None:
        """Raise what ended the bytes early, if anything did.

        Raises:
            InputError: The file was cut, is damaged, or could not be read.
        """
        if self._error is not None:
            raise self._error

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line that is not blank, with its number, counted from 1.

        Raises:
            InputError: As `check`, after the last line that is whole.
        """
        for number, line in enumerate(self.bytes, start=1):
            if not line.endswith(b"\n"):
                self.check()
            if stripped := line.rstrip():
                yield number, stripped
        self.check()

    def _fill(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and (part := self._pull(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _pull(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end, and where they cannot be read."""
        if self._error is not None:
            return b""
        try:
            return bytes(self._stream.read1(size))
        except EOFError:
            self._fail("the gzip data is cut")
        except (zlib.error, gzip.BadGzipFile) as error:
            self._fail(f"damaged gzip data: {error}")
        except OSError as error:
            self._fail(f"cannot be read: {error.strerror or error}")
        return b""

    def _fail(self, what: str) -> None:
        self._error = InputError(f"{self.name}: byte {self._packed.count}: {what}")


@contextlib.contextmanager
def open_source(
    path: str | Path | BinaryIO, *, on_read: ReadListener | None = None
) -> Iterator[Source]:
    """Open a file to read; `-` is standard input, which is left open.

    Raises:
        InputError: It cannot be opened.
    """
    if not isinstance(path, str | Path):
        yield Source(str(getattr(path, "name", "stream")), path, on_read=on_read)
        return
    if str(path) == STANDARD_INPUT:
        yield Source("standard input", sys.stdin.buffer, on_read=on_read)
        return
    try:
        file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - closed below
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {why}") from None
    with file:
        yield Source(str(path), file, on_read=on_read)


class _Packed(io.RawIOBase):
    """The bytes of the file as they are, counted."""

    def __init__(self, raw: BinaryIO, on_read: ReadListener | None) -> None:
        super().__init__()
        self._raw = raw
        self._on_read = on_read
        self.count = 0
        self.first = b""
        while len(self.first) < len(_GZIP) and (part := self._next(len(_GZIP))):
            self.first += part
        self._rest = self.first
        self.first = self.first[: len(_GZIP)]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.read1(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def read1(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end."""
        if not self._rest:
            return self._next(size)
        part, self._rest = self._rest[:size], self._rest[size:]
        return part

    def _next(self, size: int) -> bytes:
        part = self._raw.read(min(size, _CHUNK)) or b""
        self.count += len(part)
        if self._on_read is not None:
            self._on_read(len(part))
        return part


class _Joined(io.RawIOBase):
    """A head that was read already, and what follows it."""

    def __init__(self, head: bytes, pull: Callable[[int], bytes]) -> None:
        super().__init__()
        self._head = memoryview(head)
        self._pull = pull

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            part: bytes | memoryview = self._head[: len(buffer)]
            self._head = self._head[len(part) :]
        else:
            part = self._pull(len(buffer))
        buffer[: len(part)] = part
        return len(part)
