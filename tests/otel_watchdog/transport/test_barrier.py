"""How long a barrier may hold its agent back; `test_http_stream_barrier.py` tests what for."""

import threading

import pytest

from otel_watchdog.transport.barrier import Barrier
from otel_watchdog.transport.feedback_api import FeedbackApi

SECONDS = 10
AN_HOUR = 3600.0


class Told:
    """A service that is told of claims; it answers until it hangs."""

    def __init__(self):
        self.now = 1.0
        self.hangs, self.go, self.calls = False, threading.Event(), 0

    def __call__(self):
        if self.hangs:
            self.go.wait(SECONDS)
        self.calls += 1


def fail(_):
    """Never be called."""
    raise AssertionError


@pytest.fixture
def told():
    """Return a service that is told."""
    told = Told()
    yield told
    told.go.set()


@pytest.fixture
def barrier(service, told):
    """Return a barrier of an hour, by a clock that stands still."""
    api = FeedbackApi(service.url, token=None, setting="service")
    barrier = Barrier(api, "s", fail, tell=told, seconds=AN_HOUR, clock=lambda: told.now)
    yield barrier
    barrier.close()


def begin_turn(barrier):
    """End a span and begin a turn."""
    barrier.note("1-2", lambda _: None)
    assert barrier.wait()


def returns(work):
    """Say whether work ends in the time that a test has, which is less than an hour."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return not thread.is_alive()


def test_a_lease_is_part_of_the_turns_start(barrier, told):
    """What the question took of the time is not waited again."""
    begin_turn(barrier)
    told.now += AN_HOUR
    told.hangs = True

    assert returns(lambda: barrier.settle(is_claim=False))


def test_the_claims_of_a_turn_share_one_wait(barrier, told):
    """Four corrections do not take four times as long."""
    begin_turn(barrier)
    barrier.settle(is_claim=True)
    told.now += AN_HOUR
    told.hangs = True

    assert returns(lambda: barrier.settle(is_claim=True))


def test_another_turn_has_a_wait_of_its_own(barrier, told, eventually):
    """The service was told of its claims when the wait ends, as at the turn before."""
    calls = []
    for _ in range(2):
        begin_turn(barrier)
        eventually(lambda: told.calls % 2)
        barrier.settle(is_claim=True)
        calls.append(told.calls)
        told.now += AN_HOUR

    assert calls == [2, 4]


def test_once_closed_nothing_is_waited_for(barrier, told):
    """Nor asked."""
    begin_turn(barrier)
    barrier.note("1-3", fail)
    told.hangs = True
    barrier.close()
    barrier.resume()

    assert returns(barrier.wait)
    assert returns(lambda: barrier.settle(is_claim=True))
