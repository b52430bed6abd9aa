"""A thread that is there while there is work, alive after a fork, and gone in time."""

import os
import threading

import pytest

from otel_watchdog.transport.background import Worker

SECONDS = 10


class Work:
    """Counts its calls; returns what it is told to."""

    def __init__(self, *answers):
        self.answers, self.calls = list(answers), 0
        self.called, self.go = threading.Semaphore(0), threading.Event()
        self.go.set()

    def __call__(self):
        self.go.wait(SECONDS)
        self.calls += 1
        self.called.release()
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def wait(self, times=1):
        """Wait for so many calls."""
        for _ in range(times):
            assert self.called.acquire(timeout=SECONDS)


def test_works_when_woken_and_comes_back():
    """A thread that had nothing to do is replaced by another."""
    work = Work()
    worker = Worker(work, name="w")

    for _ in range(20):
        worker.wake()
        work.wait()

    assert worker.close(SECONDS)
    assert work.calls >= 20


def test_works_on_as_often_as_it_is_asked():
    """Until there is nothing more."""
    work = Work(0, 0.001, 0)
    worker = Worker(work, name="w")

    worker.wake()
    work.wait(4)

    assert worker.close(SECONDS)


def test_keeps_no_thread_where_there_is_nothing_to_do(eventually):
    """A program that ends has nothing of ours to wait for."""
    worker = Worker(Work(), name="idle watchdog")

    worker.wake()

    eventually(lambda: all(thread.name != "idle watchdog" for thread in threading.enumerate()))


def test_what_is_raised_is_logged_once_and_tried_again(caplog, monkeypatch):
    """One failure is no reason to stop."""
    monkeypatch.setattr("otel_watchdog.transport.background.RETRY_SECONDS", 0)
    work = Work(RuntimeError("planted"), RuntimeError("planted"))
    worker = Worker(work, name="w")

    worker.wake()
    work.wait(3)
    worker.close(SECONDS)

    assert caplog.text.count("w failed; it is tried again") == 1


def test_closing_ends_a_wait():
    """Work that is due in an hour is done a last time at once."""
    work = Work(3600)
    worker = Worker(work, name="w")
    worker.wake()
    work.wait()

    assert worker.close(SECONDS)
    assert work.calls == 2


def test_closing_keeps_to_its_deadline():
    """Work that hangs is left alone."""
    work = Work()
    work.go.clear()
    worker = Worker(work, name="w")
    worker.wake()

    ended = worker.close(0.01)
    work.go.set()

    assert not ended


def test_a_closed_one_stays_closed():
    """Without a start, twice, and when it is woken afterwards."""
    work = Work()
    worker = Worker(work, name="w")

    assert worker.close(0)
    assert worker.close(0)
    worker.wake()

    assert work.calls == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_works_in_a_forked_child():
    """Its parent's thread is not there; one of its own is started."""
    work, forked = Work(3600), threading.Event()
    worker = Worker(work, name="w", on_fork=forked.set)
    worker.wake()
    work.wait()

    child = os.fork()
    if child == 0:
        code = 1
        try:
            worker.wake()
            work.wait()
            code = 0 if forked.is_set() and worker.close(SECONDS) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0
    assert not forked.is_set()
    worker.close(SECONDS)
