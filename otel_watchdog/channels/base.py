"""What a channel is, and what it may also be."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple, Protocol, TypeAlias, runtime_checkable

from otel_watchdog.model import Correction, Observation

Listener: TypeAlias = Callable[[Correction], None]


class Ended(NamedTuple):
    """A span of an agent that has ended and is exported."""

    trace_id: int
    span_id: int
    flush: Callable[[int], object]
    """Has exporters send all that waits; takes the milliseconds that it may last, which not every
    exporter heeds: it may block."""


class Channel(Protocol):
    """Carries corrections towards the agent, which takes them at a turn's start."""

    name: ClassVar[str]

    def send(self, correction: Correction) -> None:
        """Hand over one correction; must not block. What it raises is counted and goes no further.

        Called from the thread whose span was judged, with no lock held.
        """
        ...

    def close(self) -> None:
        """Let go of what is held; safe to call twice."""
        ...


class Mailbox(Protocol):
    """Where adapters in this process take corrections from."""

    def send(self, correction: Correction) -> None:
        """See `Channel.send`."""
        ...

    def listen(self, *, on_lease: Listener, on_claim: Listener) -> None:
        """Have the callbacks called, too, with each correction that is leased, and acknowledged."""
        ...


@runtime_checkable
class Claimed(Protocol):
    """A channel that learns when the agent took a correction; the ladder climbs by it."""

    def listen(self, *, on_lease: Listener, on_claim: Listener) -> None:
        """Have the callbacks called, too, with each correction that is leased, and acknowledged."""
        ...


@runtime_checkable
class Connected(Protocol):
    """A channel that brings in corrections from elsewhere."""

    def connect(self, mailbox: Mailbox) -> None:
        """Put what comes in into `mailbox`."""
        ...


@runtime_checkable
class Following(Protocol):
    """A channel that goes by how its sessions fare."""

    def observe(self, observation: Observation) -> None:
        """Take note of an observation; must not block. Called as `Channel.send` is."""
        ...


@runtime_checkable
class Awaited(Protocol):
    """A channel that a turn's start may wait for, so that what is due is there at that turn."""

    barrier_ms: float
    """Milliseconds that a turn's start may be held back; 0: the channel is told and asked nothing.
    Read once."""

    def note(self, session: str, ended: Ended) -> None:
        """Take note of a session's last span; must not block. Called as `Channel.send` is."""
        ...

    def catch_up(self, session: str) -> None:
        """Have in what is due for `session`; may block for `barrier_ms`, and no longer.

        Called from the thread of the agent, before its mailbox is looked up.
        """
        ...
