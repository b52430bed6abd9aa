"""Hands corrections to every channel, and each channel what else it asks for."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from otel_watchdog.channels import Channel, InProcess
from otel_watchdog.channels.base import Awaited, Claimed, Connected, Ended, Following, Listener
from otel_watchdog.model import Correction, Observation

MAX_PLUGIN_ERRORS: Final = 3
"""Errors of one channel after which it is switched off."""


class FanOut:
    """The channels of one watchdog; a mailbox in this process is always among them.

    Args:
        channels: In the order in which they are told; a mailbox is added where there is none.
        on_lease: Called with each correction that is leased, on whichever channel.
        on_claim: Called with each correction that is acknowledged.
        on_error: Called with a channel's name and what it raised.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        on_lease: Listener,
        on_claim: Listener,
        on_error: Callable[[str, Exception], None],
    ) -> None:
        self._channels = list(channels)
        self.mailbox = _mailbox(self._channels)
        self._following = [c for c in self._channels if isinstance(c, Following)]
        self._awaited = [c for c in self._channels if isinstance(c, Awaited) and c.barrier_ms]
        self._on_error = on_error
        self._errors: dict[str, int] = {}
        self.mailbox.listen(on_lease=on_lease, on_claim=on_claim)
        if self._awaited:
            self.mailbox.wait_by(self._catch_up)

        def claim_elsewhere(correction: Correction) -> None:
            self.mailbox.withdraw(correction)
            on_claim(correction)

        for channel in self._channels:
            if isinstance(channel, Claimed) and not isinstance(channel, InProcess):
                channel.listen(on_lease=on_lease, on_claim=claim_elsewhere)
        for channel in self._channels:
            if isinstance(channel, Connected):
                channel.connect(self.mailbox)

    @property
    def is_awaited(self) -> bool:
        """Whether a channel is to `note` spans."""
        return bool(self._awaited)

    def send(self, correction: Correction) -> None:
        """Hand over a correction; no lock is held."""
        for channel in list(self._channels):
            self._guard(channel, lambda channel: channel.send(correction))

    def observe(self, observations: Sequence[Observation]) -> None:
        """Tell of observations who goes by them; no lock is held."""
        for channel in list(self._following):
            self._guard(channel, lambda channel: _follow(channel, observations))

    def note(self, observations: Sequence[Observation], ended: Ended) -> None:
        """Tell of the span that observations came of who waits for its judgement; as `observe`."""
        sessions = {observation.session for observation in observations}
        for channel in list(self._awaited):
            self._guard(channel, lambda channel: _note(channel, sessions, ended))

    def close(self) -> None:
        """Close every channel; safe to call twice."""
        for channel in list(self._channels):
            self._guard(channel, lambda channel: channel.close())

    def _catch_up(self, session: str) -> None:
        for channel in list(self._awaited):
            self._guard(channel, lambda channel: _catch_up(channel, session))

    def _guard(self, channel: Channel, call: Callable[[Channel], None]) -> None:
        try:
            call(channel)
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            count = self._errors[channel.name] = self._errors.get(channel.name, 0) + 1
            if count >= MAX_PLUGIN_ERRORS:
                self._channels = [c for c in self._channels if c is not channel]
                self._following = [c for c in self._following if c is not channel]
                self._awaited = [c for c in self._awaited if c is not channel]
            self._on_error(channel.name, error)


def _follow(channel: Channel, observations: Sequence[Observation]) -> None:
    if isinstance(channel, Following):
        for observation in observations:
            channel.observe(observation)


def _note(channel: Channel, sessions: Iterable[str], ended: Ended) -> None:
    if isinstance(channel, Awaited):
        for session in sessions:
            channel.note(session, ended)


def _catch_up(channel: Channel, session: str) -> None:
    if isinstance(channel, Awaited):
        channel.catch_up(session)


def _mailbox(channels: list[Channel]) -> InProcess:
    """Return the mailbox among `channels`; put one there if there is none."""
    for channel in channels:
        if isinstance(channel, InProcess):
            return channel
    mailbox = InProcess()
    channels.append(mailbox)
    return mailbox
