"""What a barrier adds to the stream: a turn's start waits, for so long, for what is due at it."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from otel_watchdog import InProcess, RunEnded, RunStarted
from otel_watchdog.channels import HttpStream
from otel_watchdog.channels.base import Ended
from otel_watchdog.fan_out import FanOut
from otel_watchdog.testing import correction

SECONDS = 10
LONG_MS = 1000
SHORT_MS = 100


def fail(*_):
    """Never be called."""
    raise AssertionError


class Agent:
    """An agent that takes its corrections from a mailbox, which a stream fills."""

    def __init__(self, service, *, at=None, **options):
        self.service = service
        self.channel = HttpStream(
            at or service.url, min_backoff_seconds=0.01, jitter=lambda: 0.0, **options
        )
        self.mailbox = InProcess()
        self.told_before_flush = []
        """How often the service had been told of something, at each flush."""
        self._spans = 0
        self._channels = FanOut(
            [self.channel, self.mailbox],
            on_lease=lambda _: None,
            on_claim=lambda _: None,
            on_error=fail,
        )
        self._channels.observe([RunStarted(session="s", run="r")])

    def end_span(self, flush=None):
        """End a span; return its name on the wire."""
        self._spans += 1
        observation = RunStarted(session="s", run="r")
        ended = Ended(trace_id=1, span_id=self._spans, flush=flush or self._flush)
        self._channels.note([observation], ended)
        return f"{1:032x}-{self._spans:016x}"

    def look_up(self):
        """Begin a turn; return the ids of what is due."""
        return [one.id for one in self.mailbox.lease("s")]

    def end_run(self):
        """End the run."""
        self._channels.observe([RunEnded(session="s", run="r", turn=1)])

    def _flush(self, milliseconds):
        assert 0 < milliseconds <= LONG_MS
        self.told_before_flush.append(len(self.service.acks))


@pytest.fixture
def agent(service):
    """Return what makes an agent whose stream is up."""
    made = []

    def make(**options):
        one = Agent(service, **options)
        made.append(one)
        if not service.hangs and "at" not in options:
            service.wait(lambda service: service.open_streams)
        return one

    yield make
    for one in made:
        one.channel.close()


@pytest.fixture
def dripping():
    """Return the address of what answers without end, a byte now and then."""
    done = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            with contextlib.suppress(OSError):
                while not done.wait(0.01):
                    self.wfile.write(b" ")

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    done.set()
    server.shutdown()
    server.server_close()


def names():
    """Return the names of all threads."""
    return [thread.name for thread in threading.enumerate()]


def in_time(work):
    """Do work in a thread; return what it returns, which must come."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert found
    return found[0]


def test_by_default_nothing_is_asked(service, agent):
    """Nor waited for: a turn's start is a look-up."""
    plain = agent()
    for _ in range(3):
        plain.end_span()
        assert plain.look_up() == []
    plain.channel.note("s", Ended(1, 1, fail))
    plain.channel.catch_up("s")
    plain.end_run()

    service.wait(lambda service: service.open_streams == 0)

    assert service.questions == []
    assert plain.told_before_flush == []


def test_what_is_due_is_there_at_the_look_up(service, agent):
    """Without any waiting of the agent's own, each time."""
    waiting = agent(barrier_ms=LONG_MS)

    for id_ in ("a", "b", "c"):
        service.put(correction(id=id_))
        waiting.end_span()
        assert waiting.look_up() == [id_]

    assert waiting.channel.missed == 0


def test_each_span_is_asked_for_once(service, agent):
    """By the name of the last one; the service is given less time than there is."""
    waiting = agent(barrier_ms=LONG_MS)
    waiting.look_up()
    waiting.end_span()
    last = waiting.end_span()
    for _ in range(3):
        waiting.look_up()
    another = waiting.end_span()
    waiting.look_up()

    assert [asked["after"] for asked in service.questions] == [last, another]
    assert all(0 < float(asked["barrier_ms"]) < LONG_MS for asked in service.questions)


def test_spans_are_sent(agent):
    """By what came with the span, or by what the channel was given."""
    own, given = threading.Event(), threading.Event()
    waiting = agent(barrier_ms=LONG_MS)
    waiting.end_span(flush=lambda _: own.set())
    waiting.look_up()
    other = agent(barrier_ms=LONG_MS, flush=lambda _: given.set())
    other.end_span(flush=fail)
    other.look_up()

    assert own.wait(SECONDS)
    assert given.wait(SECONDS)


def test_stream_and_barrier_bring_a_correction_once(service, agent, eventually):
    """Whichever is first, and also after it was claimed."""
    waiting = agent(barrier_ms=LONG_MS)
    service.put(correction(id="a"))
    eventually(lambda: waiting.mailbox.pending)
    waiting.end_span()
    leased = waiting.mailbox.lease("s")
    waiting.mailbox.acknowledge(leased)
    waiting.end_span()

    again = waiting.look_up()

    assert ([one.id for one in leased], again) == (["a"], [])
    assert len(service.questions) == 2


def test_the_service_knows_first_what_was_done_first(service, agent):
    """That a correction goes out before what is done about it, but after the spans until then."""
    waiting = agent(barrier_ms=LONG_MS)
    service.put(correction(id="a"))
    waiting.end_span()
    leased = waiting.mailbox.lease("s")
    after_lease = [body["stage"] for _, body, _ in service.acks]
    waiting.end_span()
    waiting.mailbox.acknowledge(leased)
    after_claim = [body["stage"] for _, body, _ in service.acks]

    assert after_lease == ["lease"]
    assert after_claim == ["lease", "claim"]
    assert waiting.told_before_flush[-1] == 1


def test_a_service_that_hangs_is_waited_for_once(service, agent, eventually):
    """Until there is a sign of it on the stream."""
    waiting = agent(barrier_ms=SHORT_MS)
    service.change(hangs=True)
    for _ in range(3):
        waiting.end_span()
        assert in_time(waiting.look_up) == []
    assert (service.hangs, waiting.channel.missed) == (True, 3)
    service.wait(lambda service: len(service.questions) == 1)

    service.change(hangs=False)

    def asks_again():
        waiting.end_span()
        waiting.look_up()
        return len(service.questions) > 1

    eventually(asks_again)


def test_a_service_that_hangs_at_a_claim_keeps_nobody(service, agent):
    """Neither where it is told of a lease."""
    waiting = agent(barrier_ms=SHORT_MS)
    service.put(correction(id="a"))
    waiting.mailbox.send(correction(id="a"))
    waiting.channel._take(correction(id="a"))
    service.change(hangs=True)

    leased = in_time(lambda: waiting.mailbox.lease("s"))
    in_time(lambda: waiting.mailbox.acknowledge(leased))

    assert [one.id for one in leased] == ["a"]


def test_an_answer_without_end_keeps_nobody(agent, dripping, eventually):
    """Each byte comes in time; the whole never does. No thread reads on."""
    waiting = agent(barrier_ms=SHORT_MS, at=dripping)
    waiting.end_span()

    assert in_time(waiting.look_up) == []
    assert waiting.channel.missed == 1
    eventually(lambda: "watchdog-http_stream-barrier" not in names())


def test_a_service_that_never_answered_keeps_nobody(service, agent):
    """From the first turn on: it takes connections and says nothing."""
    service.change(hangs=True)
    waiting = agent(barrier_ms=SHORT_MS)
    waiting.end_span()

    assert in_time(waiting.look_up) == []
    assert service.hangs


def test_a_service_that_is_gone_is_not_waited_for(service, agent, eventually):
    """It comes back, and so does the barrier."""
    waiting = agent(barrier_ms=LONG_MS)
    service.stop()
    for _ in range(3):
        waiting.end_span()
        assert waiting.look_up() == []
    assert waiting.channel.missed == 3

    service.start()
    service.put(correction(id="a"))
    service.wait(lambda service: service.open_streams)

    def comes_when_due():
        waiting.end_span()
        waiting.look_up()
        return service.questions

    eventually(comes_when_due)


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_refusal_ends_the_wait(service, agent, status):
    """As if the service were gone."""
    waiting = agent(barrier_ms=LONG_MS)
    service.change(status=status)
    waiting.end_span()

    assert waiting.look_up() == []
    assert waiting.channel.missed == 1


def test_one_that_is_slow_to_judge_is_asked_again(service, agent):
    """It answers: only this turn's correction comes later."""
    waiting = agent(barrier_ms=LONG_MS)
    service.change(judges=False)
    for _ in range(2):
        waiting.end_span()
        waiting.look_up()
    service.change(judges=True)
    waiting.end_span()
    waiting.look_up()

    assert waiting.channel.missed == 2
    assert len(service.questions) == 3


@pytest.mark.parametrize("is_judged", [True, False])
def test_an_exporter_that_hangs_keeps_nobody(service, agent, is_judged):
    """It is called on a thread of ours, once at a time."""
    service.change(judges=is_judged)
    go, calls = threading.Event(), []

    def hang(_):
        calls.append(1)
        go.wait(6 * SECONDS)

    waiting = agent(barrier_ms=SHORT_MS)
    for _ in range(3):
        waiting.end_span(flush=hang)
        in_time(waiting.look_up)
    in_hand = len(calls)
    go.set()

    assert in_hand <= 1


def test_an_exporter_that_hangs_at_a_claim_keeps_nobody(service, agent):
    """That the service is told waits for the spans before, its agent does not."""
    go = threading.Event()
    waiting = agent(barrier_ms=SHORT_MS)
    service.put(correction(id="a"))
    waiting.end_span()
    leased = waiting.mailbox.lease("s")
    waiting.end_span(flush=lambda _: go.wait(6 * SECONDS))

    in_time(lambda: waiting.mailbox.acknowledge(leased))
    go.set()

    assert [one.id for one in leased] == ["a"]


def test_an_exporter_that_fails_is_logged_once(service, agent, caplog, eventually):
    """And nothing raises."""

    def burst(_):
        raise OSError("no room")

    waiting = agent(barrier_ms=LONG_MS)
    for id_ in ("a", "b"):
        service.put(correction(id=id_))
        waiting.end_span(flush=burst)
        assert waiting.look_up() == [id_]

    eventually(lambda: caplog.records)
    assert [record.getMessage() for record in caplog.records] == [
        "spans could not be sent for the barrier"
    ]


def test_what_is_no_correction_is_skipped(service, agent):
    """As on the stream."""
    waiting = agent(barrier_ms=LONG_MS)
    service.put(correction(id="a", message="no marker"), correction(id="b"))
    waiting.end_span()

    assert waiting.look_up() == ["b"]


def test_while_paused_nothing_is_asked(service, agent, monkeypatch):
    """Nothing would be given out."""
    waiting = agent(barrier_ms=LONG_MS)
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "1")
    waiting.end_span()
    waiting.look_up()

    assert service.questions == []


def test_after_the_run_nothing_is_asked(service, agent):
    """The service no longer streams to the session."""
    waiting = agent(barrier_ms=LONG_MS)
    waiting.end_span()
    waiting.end_run()
    waiting.look_up()

    assert service.questions == []


def test_no_thread_is_left(service, agent, eventually):
    """Nor one that waits for a service that hangs."""
    waiting = agent(barrier_ms=SHORT_MS)
    service.change(hangs=True)
    waiting.end_span()
    in_time(waiting.look_up)

    waiting.channel.close()

    eventually(lambda: not any(name.startswith("watchdog-http_stream") for name in names()))
    service.change(hangs=False)
