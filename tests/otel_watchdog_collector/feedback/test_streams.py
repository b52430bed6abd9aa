"""Streams of events: to agents that read, that do not read, and that go."""

import asyncio
from typing import Any

import pytest

from otel_watchdog.model import Correction, Finding, Kind, Mode, Severity, Tier
from otel_watchdog_collector.facts import Letter
from otel_watchdog_collector.feedback.streams import Pulse, Stream

WAIT = 20
"""Seconds after which a test gives up."""


def letter(seq):
    """Return a letter of this number."""
    finding = Finding(
        detector="same_error",
        kind=Kind.SAME_ERROR,
        severity=Severity.WARN,
        reason="Again.",
        guidance="Look elsewhere.",
    )
    correction = Correction(
        id=f"c{seq}",
        session="s",
        run="r",
        agent="a",
        turn=3,
        n=1,
        tier=Tier.NUDGE,
        mode=Mode.FEEDBACK,
        findings=(finding,),
        message="[watchdog] Stop.",
    )
    return Letter(seq=seq, id=correction.id, correction=correction, names=("s",), sent_at=0.0)


class Client:
    """The other end of a stream: reads unless told not to, and goes when told to."""

    def __init__(self, pulse, after=0):
        self.letters: Any = []
        self.closing = False
        self.got = bytearray()
        self.ended = False
        self.came = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()
        self._gone = asyncio.Event()
        self.stream = Stream(
            lambda: self.letters, self.send, after, pulse=pulse, is_closing=lambda: self.closing
        )
        self.serving = asyncio.ensure_future(self.stream.serve([], self.receive))

    async def send(self, message):
        """Take a part of the response."""
        await self.reads.wait()
        assert not self.ended, "a part after the end"
        self.got += message.get("body", b"")
        self.ended = message["type"] == "http.response.body" and not message["more_body"]
        if self.ended:
            self._gone.set()
        self.came.set()

    async def receive(self):
        """Return once the client has gone or the response has ended."""
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def until(self, count, part):
        """Read until a part has come so many times."""
        async with asyncio.timeout(WAIT):
            while self.got.count(part) < count:
                self.came.clear()
                await self.came.wait()

    def leave(self):
        """Hang up."""
        self._gone.set()


@pytest.mark.parametrize("after", [0, 1, 2])
def test_each_letter_comes_once_in_order(after):
    """Also when it is woken with nothing new; those that were seen before do not come."""

    async def run():
        client = Client(Pulse(60), after)
        client.letters = [letter(1)]
        client.stream.wake()
        await client.until(1, b"\n\n")
        client.letters = [letter(1), letter(2), letter(3)]
        client.stream.wake()
        client.stream.wake()
        await client.until(1, b"id: 3\n")
        client.stream.wake()
        await client.until(1, b": alive")
        client.leave()
        await client.serving
        return [line for line in client.got.decode().split("\n") if line.startswith("id: ")]

    assert asyncio.run(run()) == [f"id: {seq}" for seq in range(after + 1, 4)]


def test_news_that_come_before_the_head_wait_for_it():
    """Nothing stands before the response's start."""

    async def run():
        client = Client(Pulse(60))
        client.letters = [letter(1)]
        client.stream.wake()
        await client.until(1, b"id: 1")
        client.leave()
        await client.serving
        return bytes(client.got)

    assert asyncio.run(run()).startswith(b"retry: 1000\n\nid: 1\nevent: correction\ndata: {")


def test_a_client_that_does_not_read_holds_up_no_other():
    """What it missed comes once it reads on."""

    async def run():
        pulse = Pulse(60)
        slow, quick = Client(pulse), Client(pulse)
        await asyncio.gather(slow.until(1, b": alive"), quick.until(1, b": alive"))
        slow.reads.clear()
        for seq in (1, 2):
            for client in (slow, quick):
                client.letters = [*client.letters, letter(seq)]
                client.stream.wake()
            await quick.until(seq, b"event: correction")
        missed = b"event" not in slow.got
        slow.reads.set()
        await slow.until(2, b"event: correction")
        for client in (slow, quick):
            client.leave()
            await client.serving
        return missed

    assert asyncio.run(run())


def test_streams_that_are_silent_give_signs_of_life():
    """Each of many does, and one that has ended does not."""

    async def run():
        pulse = Pulse(0.2)
        clients = [Client(pulse) for _ in range(50)]
        gone = clients.pop()
        await gone.until(1, b": alive")
        gone.leave()
        await gone.serving
        said = bytes(gone.got)
        await asyncio.gather(*(client.until(3, b": alive") for client in clients))
        for client in clients:
            client.leave()
            await client.serving
        return bytes(gone.got) == said

    assert asyncio.run(run())


def test_the_timer_rests_while_nobody_listens_and_starts_again():
    """A service without agents wakes for none."""

    async def run():
        pulse = Pulse(0.2)
        for _ in range(2):
            client = Client(pulse)
            await client.until(2, b": alive")
            client.leave()
            await client.serving
            async with asyncio.timeout(WAIT):
                while pulse.is_beating:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)

    asyncio.run(run())


def test_it_ends_when_the_service_does():
    """What waits goes out first; what wakes it later writes nothing more."""

    async def run():
        client = Client(Pulse(60))
        await client.until(1, b": alive")
        client.letters = [letter(1)]
        client.closing = True
        client.stream.wake()
        await client.serving
        client.stream.wake()
        await asyncio.sleep(0)
        return client.ended, b"event: correction" in client.got

    assert asyncio.run(run()) == (True, True)


def test_letters_that_cannot_be_had_end_the_stream(caplog):
    """The client comes back on its own; the reason is logged."""

    async def run():
        client = Client(Pulse(60))
        await client.until(1, b": alive")
        client.letters = None
        client.stream.wake()
        await client.serving
        return client.ended

    assert asyncio.run(run())
    assert "a stream of corrections ends" in caplog.text


def test_nothing_of_a_stream_is_left_when_its_client_goes_unread():
    """A part that waits to be read is given up."""

    async def run():
        client = Client(Pulse(60))
        await client.until(1, b": alive")
        client.reads.clear()
        client.stream.wake()
        await asyncio.sleep(0)
        client.leave()
        await client.serving
        await asyncio.sleep(0)
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert asyncio.run(run()) == []
