"""The signal file: how a correction reaches an agent that can read a file at a turn's start.

The writer writes beside `correction.signal` and moves it in; the reader moves it to
`correction.signal.claimed`, reads and deletes it. So nobody sees half a file, and its writer knows
by its absence that it was taken. What a reader left behind when it died is delivered by the next.
"""

import contextlib
import hashlib
import itertools
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from otel_watchdog.errors import ConfigError, InputError
from otel_watchdog.model import MARKER, Tier

SIGNAL: Final = "correction.signal"
CLAIMED: Final = "correction.signal.claimed"
LOCK: Final = "correction.signal.lock"

MAX_BYTES: Final = 64 * 1024
"""Size of a file that is still read."""

MAX_CHARS: Final = 16_000
"""Length of a message; what is longer is cut."""

MAX_TURNS: Final = 1_000_000

_TIERS: Final = {tier.label for tier in Tier}
_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_numbers = itertools.count()


class Signal(NamedTuple):
    """What stands in a signal file."""

    correction: str
    """The message, opened by `[watchdog]`."""
    max_turns_override: int | None = None
    """Absolute turn after which the run is to end; the agent takes it where its own is higher."""
    id: str = ""
    """The correction's id; "" if it has none."""
    tier: str = ""
    """The tier's word; "" if not known."""
    turn: int | None = None
    """The turn that was judged."""


def encode(signal: Signal) -> bytes:
    """Return a signal as its file's content; what is not known is left out."""
    known = {name: value for name, value in signal._asdict().items() if value not in (None, "")}
    return orjson.dumps(known)


def decode(content: bytes) -> Signal:
    r"""Read a file's content, which may be anybody's.

    >>> decode(b'{"correction": "try \\u001b[31msomething else"}').correction
    '[watchdog] try [31msomething else'

    Raises:
        InputError: It is no signal; the message says why.
    """
    if len(content) > MAX_BYTES:
        raise InputError(f"larger than {MAX_BYTES} bytes")
    try:
        given = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise InputError(f"no JSON: {error}") from None
    text = given.get("correction") if isinstance(given, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise InputError('needs {"correction": text, …}')
    id_, tier = given.get("id"), given.get("tier")
    return Signal(
        correction=clean(text),
        max_turns_override=_turns(given, "max_turns_override"),
        id=id_ if isinstance(id_, str) and _ID.fullmatch(id_) else "",
        tier=tier if isinstance(tier, str) and tier in _TIERS else "",
        turn=_turns(given, "turn"),
    )


def clean(text: str) -> str:
    """Return a message that opens with the marker, cut, and free of what a terminal acts on."""
    text = _CONTROLS.sub("", text).strip()
    if not text.startswith(MARKER):
        text = f"{MARKER} {text}"
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}…"


def folder_of(folder: Path, session: str | None) -> Path:
    """Return where a session's file stands: a folder in `folder`, by the session's key.

    >>> folder_of(Path("signals"), "thread-1").name
    'thread-1'
    >>> folder_of(Path("signals"), "../../etc").name
    'etc-74ccf3c5b4c19a81'

    Args:
        folder: Of all sessions.
        session: `None`: the file stands in `folder` itself.
    """
    if session is None:
        return folder
    if _PLAIN.fullmatch(session):
        return folder / session
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", session).strip("-")[:40]
    return folder / f"{plain or 'session'}-{digest}"


def check(folder: Path) -> None:
    """Refuse a folder in which anybody could put words into the agent's ear.

    Raises:
        ConfigError: It is no folder, or everybody may write into it.
    """
    try:
        mode = folder.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise ConfigError(f"signal folder {folder}: {error}") from None
    if not stat.S_ISDIR(mode):
        raise ConfigError(f"signal folder {folder}: is no folder")
    if mode & stat.S_IWOTH:
        raise ConfigError(f"signal folder {folder}: must not be writable by everybody")


def put(folder: Path, signal: Signal) -> bool:
    """Write a signal, for its owner's eyes only; false if one is there that was not read yet.

    Raises:
        OSError: The folder cannot be made or written to.
    """
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if is_unread(folder):
        return False
    new = folder / f"{SIGNAL}.{os.getpid()}-{next(_numbers)}.tmp"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(encode(signal))
        return _move_in(new, folder / SIGNAL)
    finally:
        new.unlink(missing_ok=True)


def is_unread(folder: Path) -> bool:
    """Say whether a signal waits."""
    return os.path.lexists(folder / SIGNAL)


def withdraw(folder: Path) -> bool:
    """Take back the signal that waits; false if it was taken."""
    taken = folder / f"{SIGNAL}.{os.getpid()}-{next(_numbers)}.withdrawn"
    try:
        (folder / SIGNAL).rename(taken)
    except FileNotFoundError:
        return False
    taken.unlink()
    return True


def claim(folder: Path, *, on_bad: Callable[[str], None]) -> list[Signal]:
    """Take what waits: first what a reader that died left behind, then the signal.

    Args:
        folder: Where the file stands.
        on_bad: Called with what is wrong with a file that is no signal; it is deleted.

    Raises:
        OSError: The folder cannot be written to.
    """
    if not (is_unread(folder) or os.path.lexists(folder / CLAIMED)):
        return []
    signals = []
    claimed = folder / CLAIMED
    with _locked(folder):
        for move in (False, True):
            if move:
                with contextlib.suppress(FileNotFoundError):
                    (folder / SIGNAL).rename(claimed)
            try:
                signals.append(decode(_read(claimed)))
            except FileNotFoundError:
                continue
            except (InputError, OSError) as error:
                on_bad(f"{claimed}: {error}")
            with contextlib.suppress(FileNotFoundError):
                claimed.unlink()
    return signals


def _move_in(new: Path, place: Path) -> bool:
    """Move a file in place, unless one is there; where links are not known, in its place."""
    try:
        os.link(new, place)
    except FileExistsError:
        return False
    except OSError:
        new.rename(place)
    return True


def _read(path: Path) -> bytes:
    """Read a plain file, never a link, a pipe or a device."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InputError("is no plain file")
        return file.read(MAX_BYTES + 1)


def _turns(given: dict[str, Any], name: str) -> int | None:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value <= MAX_TURNS else None


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other readers out; the lock of one that died is free."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where readers are on their own
    except ImportError:
        yield
        return
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(folder / LOCK, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
