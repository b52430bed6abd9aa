"""What every channel that hands out corrections promises, and what the mailbox adds.

Another channel is run through the same tests by its factory in `CHANNELS`.
"""

import itertools
import random
import threading

import pytest
from hypothesis import given, settings, strategies as st

from otel_watchdog import ConfigError, Correction, InProcess, Mode
from otel_watchdog.testing import correction

CHANNELS = {"in_process": InProcess}
"""How to make each channel."""

BOUND = 4
"""Corrections that wait in a session, at most."""


@pytest.fixture(params=list(CHANNELS.values()), ids=list(CHANNELS))
def make(request):
    """Return what makes a channel."""
    return request.param


@pytest.fixture
def channel(make):
    """Return a channel, closed afterwards."""
    channel = make()
    yield channel
    channel.close()


def send(channel, *ids, session="s", **facts):
    """Send corrections of these ids."""
    for id_ in ids:
        channel.send(correction(id=id_, session=session, **facts))


def take(channel, session="s"):
    """Lease what waits; return the ids."""
    return [c.id for c in channel.lease(session)]


def cap(channel, session="s"):
    """Return the id of the correction whose cap binds."""
    binds = channel.cap(session)
    return binds.id if binds else None


def test_gives_out_in_order(channel):
    """Oldest first."""
    send(channel, "a", "b", "c")

    assert take(channel) == ["a", "b", "c"]


def test_gives_out_once(channel):
    """What is leased is not given out again, before and after it is acknowledged."""
    send(channel, "a")
    leased = channel.lease("s")

    before = take(channel)
    channel.acknowledge(leased)
    channel.acknowledge(leased)

    assert before == take(channel) == []


def test_gives_out_once_by_id(channel):
    """A correction that is sent again is the same one: waiting, leased or long acknowledged."""
    send(channel, "a", "a")
    leased = channel.lease("s")
    send(channel, "a")
    channel.acknowledge(leased)
    send(channel, "a")

    assert [c.id for c in leased] == ["a"]
    assert take(channel) == []


def test_each_session_has_its_own(channel):
    """Nobody takes another's corrections."""
    send(channel, "a", session="s")
    send(channel, "b", session="t")

    assert take(channel, "t") == ["b"]
    assert take(channel, "u") == []
    assert take(channel, "s") == ["a"]


def test_the_newest_are_kept(channel):
    """Where too many wait, the oldest go."""
    send(channel, *"abcdefg")

    assert take(channel) == list("defg")


def test_a_released_correction_is_first_in_line(channel):
    """What did not go out comes again, in order, before what came since."""
    send(channel, "a", "b")
    leased = channel.lease("s")
    send(channel, "c")

    channel.release(leased)

    assert take(channel) == ["a", "b", "c"]


def test_release_keeps_to_the_bound(channel):
    """The newest are kept here too."""
    send(channel, "a", "b", "c")
    leased = channel.lease("s")
    send(channel, "d", "e")

    channel.release(leased)

    assert take(channel) == ["b", "c", "d", "e"]


def test_release_counts_once(channel):
    """Given back twice, or after it was acknowledged, a correction is not doubled."""
    send(channel, "a", "b")
    first, second = channel.lease("s")
    channel.acknowledge([second])

    channel.release([first, second])
    channel.release([first, second])

    assert take(channel) == ["a"]


def test_an_acknowledged_correction_cannot_be_released(channel):
    """It went out: it never comes again."""
    send(channel, "a")
    leased = channel.lease("s")
    channel.acknowledge(leased)

    channel.release(leased)

    assert take(channel) == []


def test_what_was_never_leased_cannot_be_acknowledged_or_released(channel):
    """Foreign corrections change nothing."""
    send(channel, "a")
    foreign = correction(id="z")

    channel.acknowledge([foreign, correction(id="a"), correction(session="never seen")])
    channel.release([foreign, correction(session="never seen")])

    assert take(channel) == ["a"]


def test_a_cap_binds_in_mode_enforce_alone(channel):
    """In mode feedback a cap is advice."""
    send(channel, "a", mode=Mode.FEEDBACK, max_turns=10)
    before = channel.cap("s")
    send(channel, "b", mode=Mode.ENFORCE)
    without = channel.cap("s")
    send(channel, "c", mode=Mode.ENFORCE, max_turns=12)

    assert (before, without) == (None, None)
    assert channel.cap("s").id == "c"
    assert channel.cap("elsewhere") is None


@settings(deadline=None)
@given(caps=st.lists(st.integers(1, 99), min_size=1, max_size=12))
def test_a_cap_only_lowers(caps):
    """The lowest of a run binds, and the first to say it."""
    for make in CHANNELS.values():
        channel = make()

        for number, turns in enumerate(caps):
            send(channel, str(number), mode=Mode.ENFORCE, max_turns=turns)

        assert cap(channel) == str(caps.index(min(caps)))
        channel.close()


def test_a_cap_stays_when_its_message_was_taken(channel):
    """It binds until the run ends."""
    send(channel, "a", mode=Mode.ENFORCE, max_turns=10)
    channel.acknowledge(channel.lease("s"))

    assert channel.cap("s").max_turns == 10


def test_a_new_run_lifts_the_cap_and_keeps_what_waits(channel):
    """A correction that came too late for one run is heard in the next."""
    send(channel, "a", mode=Mode.ENFORCE, max_turns=10, run="r1")

    channel.start_run("s")
    channel.start_run("never seen")

    assert channel.cap("s") is None
    assert take(channel) == ["a"]


def test_a_higher_cap_of_another_run_replaces_the_old_one(channel):
    """Caps of two runs are not compared."""
    send(channel, "a", mode=Mode.ENFORCE, max_turns=5, run="r1")
    send(channel, "b", mode=Mode.ENFORCE, max_turns=30, run="r2")

    assert cap(channel) == "b"


def test_pause_holds_back_all_at_once(channel, monkeypatch):
    """While paused nothing is delivered and no cap binds; afterwards it is as before."""
    send(channel, "a", mode=Mode.ENFORCE, max_turns=10)
    monkeypatch.setenv("OTEL_WATCHDOG_PAUSE", "true")
    paused = take(channel), channel.cap("s")
    monkeypatch.delenv("OTEL_WATCHDOG_PAUSE")

    assert paused == ([], None)
    assert channel.cap("s").id == "a"
    assert take(channel) == ["a"]


def test_closes_twice(channel):
    """And lets go of what it held."""
    send(channel, "a")

    channel.close()
    channel.close()

    assert take(channel) == []


class Hammer:
    """Threads that send and take at once."""

    senders = 4
    each = 200

    def __init__(self, channel):
        self.channel = channel
        self.acknowledged: list[str] = []
        self.errors: list[Exception] = []
        self._sending = threading.Event()
        self._start = threading.Barrier(2 * self.senders)

    def run(self):
        """Run until all is sent; what waits then is left."""
        self._sending.set()
        taken = [threading.Thread(target=self._guard, args=(self._take, n)) for n in range(4)]
        sent = [threading.Thread(target=self._guard, args=(self._send, n)) for n in range(4)]
        for thread in taken + sent:
            thread.start()
        for thread in sent:
            thread.join()
        self._sending.clear()
        for thread in taken:
            thread.join()

    def _guard(self, work, number):
        self._start.wait()
        try:
            work(number)
        except Exception as error:  # noqa: BLE001 - shown by the test
            self.errors.append(error)

    def _send(self, number):
        for n in range(self.each):
            send(self.channel, f"{number}-{n:03d}", session=str(number % 2))

    def _take(self, number):
        choose = random.Random(number)  # noqa: S311 - any order will do
        while self._sending.is_set():
            leased = self.channel.lease(choose.choice("01"))
            if choose.random() < 0.3:
                self.channel.release(leased)
            else:
                self.channel.acknowledge(leased)
                self.acknowledged.extend(c.id for c in leased)


@pytest.mark.timeout(30)
def test_threads_lose_and_double_nothing(channel):
    """Senders and takers at once: each goes out once, or too many newer ones came after it."""
    hammer = Hammer(channel)

    hammer.run()

    rest = take(channel, "0") + take(channel, "1")
    out = hammer.acknowledged + rest
    assert hammer.errors == []
    assert len(rest) <= 2 * BOUND
    assert len(set(out)) == len(out)
    for pair in (("0", "2"), ("1", "3")):
        assert {f"{n}-{hammer.each - 1:03d}" for n in pair} & set(out)


@settings(deadline=None)
@given(
    steps=st.lists(st.sampled_from(["send", "lease", "ack", "release", "again"]), max_size=60),
)
def test_no_order_of_calls_gives_a_correction_out_twice(steps):
    """A model of one session: what waits, what is leased, what is gone."""
    for make in CHANNELS.values():
        channel, ids = make(), itertools.count()
        waiting: list[str] = []
        leased: list[Correction] = []
        last = None

        for step in steps:
            if step == "send":
                last = str(next(ids))
                send(channel, last)
                waiting = [*waiting, last][-BOUND:]
            elif step == "again" and last is not None:
                send(channel, last)
            elif step == "lease":
                got = channel.lease("s")
                assert [c.id for c in got] == waiting
                leased, waiting = leased + list(got), []
            elif step == "ack":
                channel.acknowledge(leased)
                leased = []
            elif step == "release":
                channel.release(leased)
                waiting = [*[c.id for c in leased], *waiting][-BOUND:]
                leased = []

        assert take(channel) == waiting
        channel.close()


def test_listeners_hear_of_each_lease_and_of_each_claim_once():
    """The engine counts by them."""
    channel, heard = InProcess(), []
    channel.listen(
        on_lease=lambda c: heard.append(("lease", c.id)),
        on_claim=lambda c: heard.append(("claim", c.id)),
    )
    send(channel, "a")

    channel.release(channel.lease("s"))
    leased = channel.lease("s")
    channel.acknowledge(leased)
    channel.acknowledge(leased)

    assert heard == [("lease", "a"), ("lease", "a"), ("claim", "a")]


def test_listeners_may_use_the_mailbox():
    """No lock is held while they are called."""
    channel = InProcess()
    heard: list[object] = []
    channel.listen(
        on_lease=lambda c: heard.append(channel.cap(c.session)),
        on_claim=lambda c: heard.append(channel.lease(c.session)),
    )
    send(channel, "a")

    channel.acknowledge(channel.lease("s"))

    assert heard == [None, ()]


def test_sessions_are_bounded():
    """The mailbox that was not used for longest goes first."""
    channel = InProcess(max_sessions=2)
    send(channel, "a", session="s")
    send(channel, "b", session="t")
    send(channel, "c", session="s")

    send(channel, "d", session="u")

    assert [take(channel, session) for session in "stu"] == [["a", "c"], [], ["d"]]


@pytest.mark.parametrize("options", [{"max_waiting": 0}, {"max_sessions": 0}, {"max_waiting": -1}])
def test_refuses_what_is_out_of_bounds(options):
    """A mailbox that could hold nothing fails at start."""
    with pytest.raises(ConfigError, match="at least 1"):
        InProcess(**options)
