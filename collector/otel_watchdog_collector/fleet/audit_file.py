"""The audit as JSON lines in files: appended to, begun anew when large, kept for a while."""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson

from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import AuditEntry

MAX_FILE_DAYS: Final = 7
"""Days after its first entry on which a new file is begun, so that old entries can go."""

_DAY: Final = 86_400
_ROTATED: Final = re.compile(r"\.(\d{1,15})")


class AuditFile:
    """Appends entries to a file; `<file>.<milliseconds>` are earlier ones, by their last entry.

    Its calls block. Written by one thread at a time.

    Args:
        file: Path; it and its folder are made if they are not there, for their owner alone.
        max_bytes: Size at which a new file is begun.
        keep_days: Days after its last entry for which an earlier file is kept.
    """

    def __init__(self, file: Path, *, max_bytes: int, keep_days: float) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._keep_days = keep_days

    @classmethod
    def of(cls, config: FleetConfig, *, store: str) -> "AuditFile | None":
        """Return the one that the settings name, or the one beside a SQLite store; `None`: none."""
        file = config.audit_file
        if file is None and store.startswith("sqlite:"):
            file = Path(store.removeprefix("sqlite:") + ".audit.jsonl")
        if file is None:
            return None
        return cls(file, max_bytes=config.max_audit_bytes, keep_days=config.audit_days)

    def append(self, entries: Sequence[AuditEntry], now: float) -> None:
        """Write entries, a line each; they are on the disk when it returns.

        Args:
            entries: In order.
            now: In seconds since the epoch.

        Raises:
            OSError: They could not be written, or not all of them.
        """
        if not entries:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if self._is_full(now):
            self._rotate(now)
        lines = b"".join(orjson.dumps(entry.as_json()) + b"\n" for entry in entries)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with os.fdopen(os.open(self._file, flags, 0o600), "ab") as file:
            if file.tell() and not self._ends_a_line():
                lines = b"\n" + lines  # the last line was cut when the process was killed
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())

    def prune(self, now: float) -> int:
        """Delete earlier files that are too old; return how many."""
        oldest = (now - self._keep_days * _DAY) * 1000
        old = [path for at, path in self._rotated() if at < oldest]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the entries, the oldest first; a line that is none is left out."""
        files = [path for _, path in sorted(self._rotated())]
        for path in [*files, self._file]:
            if not path.exists():
                continue
            with path.open("rb") as lines:
                for line in lines:
                    try:
                        found = orjson.loads(line)
                    except orjson.JSONDecodeError:
                        continue
                    if isinstance(found, dict):
                        yield found

    def _is_full(self, now: float) -> bool:
        if not self._file.exists():
            return False
        if self._file.stat().st_size >= self._max_bytes:
            return True
        with self._file.open("rb") as lines:
            try:
                first = orjson.loads(lines.readline())
                began = datetime.fromisoformat(first["time"]).timestamp()
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
                return False
        return now - began >= MAX_FILE_DAYS * _DAY

    def _rotate(self, now: float) -> None:
        stamp = int(now * 1000)
        while (target := self._file.with_name(f"{self._file.name}.{stamp}")).exists():
            stamp += 1
        self._file.rename(target)

    def _rotated(self) -> list[tuple[int, Path]]:
        found = []
        name, folder = self._file.name, self._file.parent
        for path in folder.iterdir() if folder.exists() else ():
            stamp = _ROTATED.fullmatch(path.name.removeprefix(name))
            if stamp is not None and path.name.startswith(name):
                found.append((int(stamp[1]), path))
        return found

    def _ends_a_line(self) -> bool:
        with self._file.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
