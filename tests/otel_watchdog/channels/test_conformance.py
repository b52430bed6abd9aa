"""What every channel promises: order, once, bounded, never in the way, whatever its peer does."""

import os
import threading

import pytest

from otel_watchdog import InProcess, Mode, RunStarted
from otel_watchdog.channels import HttpStream, SignalFile, Webhook
from otel_watchdog.testing import correction
from otel_watchdog.transport import signal_files

SECONDS = 10


class InProcessLink:
    """A mailbox and an adapter."""

    def __init__(self, **_):
        self.channel = InProcess()

    def send(self, one):
        self.channel.send(one)

    def take(self, session="s"):
        leased = self.channel.lease(session)
        self.channel.acknowledge(leased)
        return [one.id for one in leased]


class SignalFileLink:
    """A signal file and a reader of it."""

    def __init__(self, *, folder, **_):
        self.folder = folder
        self.channel = SignalFile(folder, poll_seconds=0.005)

    def send(self, one):
        self.channel.send(one)

    def take(self, session="s"):
        place = signal_files.folder_of(self.folder, session)
        return [signal.id for signal in signal_files.claim(place, on_bad=pytest.fail)]

    def waits_first(self, id_):
        """Say whether the writer has come to that correction."""
        place = self.folder / "s" / signal_files.SIGNAL
        try:
            return signal_files.decode(place.read_bytes()).id == id_
        except FileNotFoundError:
            return False


class HttpStreamLink:
    """A service, its stream, and an adapter at the mailbox it fills."""

    def __init__(self, *, service, **_):
        self.service, self.mailbox = service, InProcess()
        self.channel = HttpStream(service.url, min_backoff_seconds=0.01, jitter=lambda: 0.0)
        self.channel.connect(self.mailbox)
        for session in ("s", "t"):
            self.channel.observe(RunStarted(session=session, run="r"))

    def send(self, one):
        self.channel.send(one)
        self.service.put(one)

    def take(self, session="s"):
        leased = self.mailbox.lease(session)
        self.mailbox.acknowledge(leased)
        return [one.id for one in leased]

    def waits_first(self, id_):
        """Say whether the mailbox has come to that correction; it is not taken."""
        leased = self.mailbox.lease("s")
        self.mailbox.release(leased)
        return bool(leased) and leased[0].id == id_


class WebhookLink:
    """A receiver of notifications."""

    def __init__(self, *, service, **_):
        self.service = service
        self.channel = Webhook(service.url)

    def send(self, one):
        self.channel.send(one)


HANDING = {
    "in_process": InProcessLink,
    "signal_file": SignalFileLink,
    "http_stream": HttpStreamLink,
}
ALL = HANDING | {"webhook": WebhookLink}


@pytest.fixture(params=HANDING.values(), ids=list(HANDING))
def link(request, service, tmp_path):
    """Return a channel that hands corrections to an agent, with its peer."""
    link = request.param(service=service, folder=tmp_path / "signals")
    yield link
    link.channel.close()


@pytest.fixture(params=ALL.values(), ids=list(ALL))
def any_link(request, service, tmp_path):
    """Return any channel with its peer."""
    link = request.param(service=service, folder=tmp_path / "signals")
    yield link
    link.channel.close()


def take(link, count, eventually, session="s"):
    """Take until so many have come."""
    taken = []

    def enough():
        taken.extend(link.take(session))
        return len(taken) >= count

    eventually(enough)
    return taken


def test_comes_in_order(link, eventually):
    """Oldest first."""
    for id_ in "abc":
        link.send(correction(id=id_))

    assert take(link, 3, eventually) == ["a", "b", "c"]


def test_comes_once_by_id(link, eventually):
    """What is sent again is the same correction, whether it waits or was taken."""
    for id_ in "aab":
        link.send(correction(id=id_))
    taken = take(link, 2, eventually)

    link.send(correction(id="a"))
    link.send(correction(id="c"))

    assert taken == ["a", "b"]
    assert take(link, 1, eventually) == ["c"]


def test_each_session_has_its_own(link, eventually):
    """Nobody takes another's."""
    link.send(correction(id="a", session="s"))
    link.send(correction(id="b", session="t"))

    assert take(link, 1, eventually, "t") == ["b"]
    assert take(link, 1, eventually, "s") == ["a"]


def test_the_newest_four_are_kept(link, eventually):
    """An agent that takes nothing finds the last four."""
    for id_ in "abcdefg":
        link.send(correction(id=id_))
    if hasattr(link, "waits_first"):
        eventually(lambda: link.waits_first("d"))

    assert take(link, 4, eventually) == ["d", "e", "f", "g"]


def test_pause_holds_back_and_loses_nothing(link, eventually, monkeypatch):
    """What waits when a pause begins, waits when it ends."""
    link.send(correction(id="a"))
    if hasattr(link, "waits_first"):
        eventually(lambda: link.waits_first("a"))
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "1")
    if isinstance(link, SignalFileLink):
        eventually(lambda: not link.waits_first("a"))
    paused = link.take()
    monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")

    assert paused == []
    assert take(link, 1, eventually) == ["a"]


def hear(channel):
    """Return a list of what listeners are told."""
    heard: list[tuple[str, str]] = []
    channel.listen(
        on_lease=lambda one: heard.append(("lease", one.id)),
        on_claim=lambda one: heard.append(("claim", one.id)),
    )
    return heard


def test_claims_are_heard_of_once(service, tmp_path, eventually):
    """The ladder climbs by them, whichever way the agent took the correction."""
    for kind in (InProcessLink, SignalFileLink):
        link = kind(service=service, folder=tmp_path / "signals")
        heard = hear(link.channel)
        link.send(correction(id="a"))
        take(link, 1, eventually)

        eventually(lambda heard=heard: len(heard) >= 2)
        link.channel.close()

        assert heard == [("lease", "a"), ("claim", "a")]


def test_sending_never_waits(any_link, service):
    """A peer that answers nothing keeps nobody."""
    service.change(hangs=True)
    done = threading.Event()

    def send():
        for number in range(500):
            any_link.channel.send(correction(id=f"c{number}", session=f"s{number}"))
        done.set()

    threading.Thread(target=send, daemon=True).start()

    assert done.wait(SECONDS)


def test_closes_in_time_and_twice(any_link, service):
    """Also while its peer hangs; what is sent afterwards does no harm."""
    service.change(hangs=True)
    any_link.send(correction(id="a"))
    done = threading.Event()

    def close():
        any_link.channel.close()
        any_link.channel.close()
        any_link.channel.send(correction(id="b"))
        done.set()

    threading.Thread(target=close, daemon=True).start()

    assert done.wait(SECONDS)


def test_an_absent_peer_is_found_when_it_comes(service, tmp_path, eventually):
    """Nothing raises meanwhile, and nothing is lost."""
    service.stop()
    for kind in (SignalFileLink, HttpStreamLink):
        link = kind(service=service, folder=tmp_path / "not" / "there yet")
        link.send(correction(id="a"))

        if kind is HttpStreamLink:
            service.start()

        assert take(link, 1, eventually) == ["a"]
        link.channel.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_a_channel_that_works(any_link, eventually, service):
    """Locks are free there, and what its parent has in hand is left to its parent."""
    any_link.send(correction(id="a"))

    child = os.fork()
    if child == 0:
        code = 1
        try:
            any_link.channel.send(correction(id="b", session="child", mode=Mode.FEEDBACK))
            any_link.channel.close()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    if hasattr(any_link, "take"):
        assert take(any_link, 1, eventually) == ["a"]
    else:
        service.wait(lambda service: len(service.posts) >= 1)
