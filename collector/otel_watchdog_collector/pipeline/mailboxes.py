"""Corrections that wait for their agents, one mailbox a session."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from otel_watchdog.model import Correction
from otel_watchdog_collector.facts import Letter

MAX_WAITING: Final = 4
"""Corrections of one session that wait; the newest are kept."""

MAX_CLAIMED: Final = 20_000
"""Ids of claimed corrections that are remembered, to know one that is claimed again."""


class Mailboxes:
    """All letters of one tenant; bounded by the number of sessions and per session."""

    def __init__(self, max_sessions: int) -> None:
        self._max_sessions = max_sessions
        self._boxes: OrderedDict[str, list[Letter]] = OrderedDict()
        self._by_id: dict[str, Letter] = {}
        self._by_name: dict[str, set[str]] = {}
        """Keys of sessions with letters, by name."""
        self._claimed: OrderedDict[str, None] = OrderedDict()
        self._seq = 0

    def __len__(self) -> int:
        """Return how many letters wait."""
        return len(self._by_id)

    def put(
        self,
        id: str,  # noqa: A002 - what it is
        correction: Correction,
        names: tuple[str, ...],
        at: float,
    ) -> tuple[Letter, list[Letter]]:
        """Add a letter; return it, and those that had to go for it."""
        self._seq += 1
        letter = Letter(seq=self._seq, id=id, correction=correction, names=names, sent_at=at)
        box = self._boxes.setdefault(correction.session, [])
        self._boxes.move_to_end(correction.session)
        box.append(letter)
        self._by_id[id] = letter
        for name in names:
            self._by_name.setdefault(name, set()).add(correction.session)
        gone = box[:-MAX_WAITING]
        if len(self._boxes) > self._max_sessions:
            gone = gone + next(iter(self._boxes.values()))
        for old in list(gone):
            self._remove(old)
        return letter, gone

    def waiting(self, name: str, agent: str | None = None, since: float = 0.0) -> list[Letter]:
        """Return the letters for who asks by `name`, made at `since` or later, oldest first."""
        found = [
            letter
            for session in self._by_name.get(name, ())
            for letter in self._boxes.get(session, ())
            if name in letter.names and letter.is_for(agent) and letter.sent_at >= since
        ]
        return sorted(found, key=lambda letter: letter.seq)

    def find(self, id: str) -> Letter | None:  # noqa: A002 - what it is
        """Return a letter that waits; `None` if there is none of this id."""
        return self._by_id.get(id)

    def was_claimed(self, id: str) -> bool:  # noqa: A002 - what it is
        """Say whether a letter of this id was claimed, and not too long ago."""
        return id in self._claimed

    def claim(self, id: str) -> Letter | None:  # noqa: A002 - what it is
        """Take out a letter for good; `None` if it does not wait."""
        letter = self._by_id.get(id)
        if letter is None:
            return None
        self._remove(letter)
        self._claimed[id] = None
        if len(self._claimed) > MAX_CLAIMED:
            self._claimed.popitem(last=False)
        return letter

    def ids(self) -> list[str]:
        """Return the ids of all letters."""
        return list(self._by_id)

    def drop(self, id: str) -> None:  # noqa: A002 - what it is
        """Take out a letter that nobody was given, if it waits."""
        letter = self._by_id.get(id)
        if letter is not None:
            self._remove(letter)

    def keep(self, is_own: Callable[[str], bool]) -> None:
        """Take out the letters of other sessions than those that `is_own` says."""
        for letter in list(self._by_id.values()):
            if not is_own(letter.correction.session):
                self._remove(letter)

    def expire(self, before: float) -> list[Letter]:
        """Take out the letters that were made before a time."""
        old = [letter for letter in self._by_id.values() if letter.sent_at < before]
        for letter in old:
            self._remove(letter)
        return old

    def _remove(self, letter: Letter) -> None:
        if self._by_id.pop(letter.id, None) is None:
            return
        session = letter.correction.session
        box = self._boxes[session]
        box.remove(letter)
        if not box:
            del self._boxes[session]
        for name in letter.names:
            if any(name in other.names for other in box):
                continue
            keys = self._by_name.get(name)
            if keys is not None:
                keys.discard(session)
                if not keys:
                    del self._by_name[name]
