"""What the stream from a service adds to what every channel promises."""

import pytest

from otel_watchdog import ConfigError, InProcess, Mode, RunEnded, RunStarted
from otel_watchdog.channels import HttpStream
from otel_watchdog.testing import correction


@pytest.fixture
def mailbox():
    """Return the mailbox that is filled."""
    return InProcess()


@pytest.fixture
def listen(service, mailbox):
    """Return what makes a channel that listens for a session's run."""
    made = []

    def make(session="s", **options):
        channel = HttpStream(service.url, min_backoff_seconds=0.01, jitter=lambda: 0.0, **options)
        made.append(channel)
        channel.connect(mailbox)
        channel.observe(RunStarted(session=session, run="r"))
        return channel

    yield make
    for channel in made:
        channel.close()


def waiting(mailbox, session="s"):
    """Return how many corrections wait, without taking them."""
    leased = mailbox.lease(session)
    mailbox.release(leased)
    return len(leased)


def test_takes_a_broken_stream_up_where_it_ended(service, listen, mailbox, eventually):
    """With the id of the last event, so that nothing is told twice."""
    listen()
    service.put(correction(id="a"), correction(id="b"))
    eventually(lambda: waiting(mailbox) == 2)

    service.cut()
    service.wait(lambda service: service.asked[-1][1].get("Last-Event-ID") == "2")
    service.put(correction(id="c"))
    eventually(lambda: waiting(mailbox) == 3)

    assert [c.id for c in mailbox.lease("s")] == ["a", "b", "c"]


def test_what_adapters_do_is_told_to_the_service(service, listen, mailbox, eventually):
    """Leased, then claimed, in order; it is told again until it is heard."""
    listen()
    service.put(correction(id="a"))
    leased = eventually(lambda: mailbox.lease("s"))
    service.wait(lambda service: service.acks)
    service.change(status=503)
    mailbox.acknowledge(leased)
    service.wait(lambda service: len(service.acks) >= 3)
    service.change(status=200)

    service.wait(lambda service: len(service.acks) >= 4)

    told = [(path, body) for path, body, _ in service.acks]
    assert told[0] == ("/v1/feedback/s/ack", {"ids": ["a"], "stage": "lease"})
    assert told[-1] == ("/v1/feedback/s/ack", {"ids": ["a"], "stage": "claim"})


def test_acknowledgements_are_bounded(service, listen, mailbox, eventually):
    """A service that takes none costs no memory; what is given up is counted."""
    channel = listen()
    eventually(lambda: service.open_streams)
    service.change(status=503)
    for number in range(300):
        one = correction(id=str(number))
        channel._take(one)
        mailbox.acknowledge(mailbox.lease("s"))

    assert channel.dropped == 600 - 256


def test_corrections_of_this_process_are_not_told(service, listen, mailbox, eventually):
    """The service knows nothing of them."""
    channel = listen()
    mailbox.send(correction(id="own"))
    channel.send(correction(id="own"))
    mailbox.acknowledge(mailbox.lease("s"))
    service.put(correction(id="a"))
    mailbox.acknowledge(eventually(lambda: mailbox.lease("s")))

    service.wait(lambda service: len(service.acks) >= 2)

    assert {id_ for _, body, _ in service.acks for id_ in body["ids"]} == {"a"}


def test_shows_its_token(service, listen):
    """On the stream."""
    listen(token="t0ken")  # noqa: S106 - of nothing

    service.wait(lambda service: service.asked)

    assert service.asked[0][1]["Authorization"] == "Bearer t0ken"


def test_a_sessions_key_is_one_part_of_the_path(service, listen, mailbox, eventually):
    """Whatever stands in it."""
    listen("a/b?c#d é")
    service.put(correction(id="a", session="a/b?c#d é"))

    assert eventually(lambda: mailbox.lease("a/b?c#d é"))[0].id == "a"


def test_listens_while_a_run_lasts(service, listen):
    """A run's end closes the stream, another run of the session keeps it."""
    channel = listen()
    channel.observe(RunStarted(session="s", run="inner"))
    service.wait(lambda service: service.open_streams == 1)
    channel.observe(RunEnded(session="s", run="inner", turn=3))
    assert channel._streams

    channel.observe(RunEnded(session="s", run="r", turn=5))

    service.wait(lambda service: service.open_streams == 0)


def test_streams_are_bounded(service, listen):
    """The oldest is closed."""
    channel = listen(max_sessions=2)
    service.wait(lambda service: service.open_streams == 1)  # else it may be closed unasked
    for session in ("t", "u"):
        channel.observe(RunStarted(session=session, run="r"))

    service.wait(lambda service: len({path for path, _ in service.asked}) == 3)
    service.wait(lambda service: service.open_streams == 2)

    assert list(channel._streams) == ["t", "u"]


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_service_that_refuses_is_asked_again(service, listen, mailbox, eventually, status):
    """It may come to its senses."""
    service.change(status=status)
    listen()
    service.wait(lambda service: len(service.asked) >= 2)
    service.change(status=200)
    service.put(correction(id="a"))

    assert eventually(lambda: mailbox.lease("s"))[0].id == "a"


def test_corrections_that_only_observe_are_not_delivered(service, listen, mailbox, eventually):
    """They are the service's own business."""
    listen()
    service.put(correction(id="a", mode=Mode.OBSERVE), correction(id="b"))

    assert [c.id for c in eventually(lambda: mailbox.lease("s"))] == ["b"]


def test_what_is_no_correction_is_skipped(service, listen, mailbox, eventually):
    """The stream goes on."""
    service.put(correction(id="a"), correction(id="b", message="no marker"), correction(id="c"))
    service.letters[0]["tier"] = 99
    listen()

    assert [c.id for c in eventually(lambda: mailbox.lease("s"))] == ["c"]


def test_a_cap_binds_as_in_the_process(service, listen, mailbox, eventually):
    """In mode enforce."""
    listen()
    service.put(correction(id="a", mode=Mode.ENFORCE, max_turns=12))

    assert eventually(lambda: mailbox.cap("s")).max_turns == 12


def test_nothing_listens_before_it_is_connected(service):
    """There would be nowhere to put what comes."""
    channel = HttpStream(service.url)

    channel.observe(RunStarted(session="s", run="r"))
    channel.close()

    assert service.asked == []


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("ftp://x", {}),
        ("http://", {}),
        ("http://user:pass@x", {}),
        ("http://x?y", {}),
        ("http://x:port", {}),
        ("http://x", {"max_sessions": 0}),
        ("http://x", {"silence_seconds": 0}),
        ("http://x", {"min_backoff_seconds": 31}),
        ("http://x", {"barrier_ms": -1}),
        ("http://x", {"barrier_ms": 1001}),
        ("http://x", {"barrier_ms": float("nan")}),
        ("http://x", {"token": "a\nb"}),
    ],
)
def test_refuses_wrong_settings(url, options):
    """It fails at start, and shows no password."""
    with pytest.raises(ConfigError) as caught:
        HttpStream(url, **options)

    assert "pass" not in str(caught.value).replace("password", "")
