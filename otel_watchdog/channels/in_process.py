"""Keeps corrections in this process until the agent's callback takes them."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import ClassVar, Final

from otel_watchdog.channels.base import Listener
from otel_watchdog.config import is_paused
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Correction, Mode

MAX_KNOWN: Final = 64
"""Ids of a session's corrections that are remembered, so that none is given out twice."""


@dataclass(slots=True)
class _Box:
    waiting: deque[Correction]
    leased: dict[str, Correction] = field(default_factory=dict)
    known: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_KNOWN))
    """Ids of what was sent, so that a correction that is sent again is not given out again."""
    cap: Correction | None = None
    """The correction whose turn cap binds."""


class InProcess:
    """A mailbox a session: at most four corrections wait, the newest are kept.

    An adapter leases what waits right before a model call, puts it before the model, and
    acknowledges it once the call has gone out with it. What was leased is not given out again;
    `release` gives it back where the call did not go out. While `OTEL_WATCHDOG_PAUSE` is set,
    nothing is given out and no cap binds.

    >>> from otel_watchdog.testing import correction
    >>> channel = InProcess()
    >>> channel.send(correction(session="s", message="[watchdog] stop"))
    >>> [c.message for c in channel.lease("s")], channel.lease("s")
    (['[watchdog] stop'], ())

    Args:
        max_waiting: Corrections that wait in one session, at least 1.
        max_sessions: Sessions with a mailbox, at least 1; the least recently used one is dropped
            first.

    Raises:
        ConfigError: A value is below 1.
    """

    name: ClassVar[str] = "in_process"

    def __init__(self, *, max_waiting: int = 4, max_sessions: int = 1024) -> None:
        if min(max_waiting, max_sessions) < 1:
            raise ConfigError(
                f"{self.name}.max_waiting and .max_sessions must be at least 1, "
                f"got {max_waiting!r}, {max_sessions!r}"
            )
        self._max_waiting = max_waiting
        self._max_sessions = max_sessions
        self._boxes: OrderedDict[str, _Box] = OrderedDict()
        self._lock = Lock()
        self._listeners: list[tuple[Listener, Listener]] = []
        self._waits: Callable[[str], None] | None = None
        self._dropped = 0

    @property
    def pending(self) -> int:
        """How many corrections wait, in all sessions."""
        with self._lock:
            return sum(len(box.waiting) for box in self._boxes.values())

    @property
    def dropped(self) -> int:
        """How many corrections gave way to newer ones before an agent took them."""
        return self._dropped

    def listen(self, *, on_lease: Listener, on_claim: Listener) -> None:
        """Have the callbacks called, too, with each correction that is leased, and acknowledged."""
        self._listeners.append((on_lease, on_claim))

    def wait_by(self, wait: Callable[[str], None]) -> None:
        """Have `wait` called with each session that is looked up, before it is: it may block."""
        self._waits = wait

    def catch_up(self, session: str) -> None:
        """Have in what is due for `session`, which `lease` does, too.

        Returns at once, but where a channel was given a barrier: then after that long at most.
        """
        if self._waits is not None and not is_paused():
            self._waits(session)

    def send(self, correction: Correction) -> None:
        """See `Channel.send`."""
        with self._lock:
            box = self._box(correction.session)
            if correction.id in box.known:
                return
            box.known.append(correction.id)
            self._dropped += len(box.waiting) == self._max_waiting
            box.waiting.append(correction)
            if correction.mode is Mode.ENFORCE and correction.max_turns is not None:
                box.cap = _lower(box.cap, correction)

    def lease(self, session: str) -> tuple[Correction, ...]:
        """Take what waits for `session`, oldest first; hold it until it is acknowledged."""
        self.catch_up(session)
        with self._lock:
            box = self._boxes.get(session)
            if box is None or not box.waiting or is_paused():
                return ()
            taken = tuple(box.waiting)
            box.waiting.clear()
            box.leased.update((correction.id, correction) for correction in taken)
        for correction in taken:
            for on_lease, _ in self._listeners:
                on_lease(correction)
        return taken

    def acknowledge(self, corrections: Iterable[Correction]) -> None:
        """Say that a model call has gone out with `corrections`; each counts once."""
        with self._lock:
            claimed = [c for c in corrections if self._drop(c) is not None]
        for correction in claimed:
            for _, on_claim in self._listeners:
                on_claim(correction)

    def release(self, corrections: Iterable[Correction]) -> None:
        """Give back what was leased and did not go out: it is first in line again."""
        with self._lock:
            for correction in reversed(list(corrections)):
                box = self._boxes.get(correction.session)
                if box is None or box.leased.pop(correction.id, None) is None:
                    continue
                if len(box.waiting) < self._max_waiting:
                    box.waiting.appendleft(correction)

    def withdraw(self, correction: Correction) -> None:
        """Give out no more what the agent was given another way; its cap goes on binding."""
        with self._lock:
            box = self._boxes.get(correction.session)
            if box is not None:
                waiting = [one for one in box.waiting if one.id != correction.id]
                box.waiting.clear()
                box.waiting.extend(waiting)

    def cap(self, session: str) -> Correction | None:
        """Return the correction whose `max_turns` ends the session's run, in mode `enforce`."""
        with self._lock:
            box = self._boxes.get(session)
            return box.cap if box and not is_paused() else None

    def start_run(self, session: str) -> None:
        """Lift the cap of the run before; what waits stays."""
        with self._lock:
            box = self._boxes.get(session)
            if box is not None:
                box.cap = None

    def close(self) -> None:
        """See `Channel.close`."""
        with self._lock:
            self._boxes.clear()

    def _box(self, session: str) -> _Box:
        box = self._boxes.get(session)
        if box is None:
            box = self._boxes[session] = _Box(deque(maxlen=self._max_waiting))
            if len(self._boxes) > self._max_sessions:
                self._boxes.popitem(last=False)
        self._boxes.move_to_end(session)
        return box

    def _drop(self, correction: Correction) -> Correction | None:
        box = self._boxes.get(correction.session)
        return box.leased.pop(correction.id, None) if box else None


def _lower(cap: Correction | None, new: Correction) -> Correction:
    if cap is None or cap.run != new.run or cap.max_turns is None or new.max_turns is None:
        return new
    return cap if cap.max_turns <= new.max_turns else new
