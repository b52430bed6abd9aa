"""What a channel is, and what it may also be."""

from collections.abc import Callable
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

from otel_watchdog.model import Correction, Observation

Listener: TypeAlias = Callable[[Correction], None]


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
