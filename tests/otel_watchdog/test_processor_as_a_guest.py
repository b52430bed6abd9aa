"""The processor in somebody's process: nothing of ours raises, blocks, grows or outlives its end."""

import logging
import os
import threading
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_watchdog import (
    InProcess,
    RepeatedToolCall,
    ToolCall,
    WatchdogConfig,
)
from otel_watchdog.dialects import GenAI
from tests.otel_watchdog.traced_agent import Traced, loop


@pytest.mark.parametrize("place", ["detector", "dialect", "channel", "policy"])
def test_an_exception_of_ours_never_reaches_the_program(place, caplog):
    """Whatever a plug-in raises is logged once, and the traced program goes on."""

    class Broken:
        name = "broken"
        watches = (ToolCall,)
        needs = ()
        scopes = ("pydantic-ai",)
        prefixes = ("gen_ai.",)

        def fail(self, *_, **__):
            raise RuntimeError("planted")

        observe = read = send = decide = start_run = claim = close = restart = fail

    plugins: dict[str, dict[str, Any]] = {
        "detector": {"detectors": [Broken(), RepeatedToolCall()]},
        "dialect": {"dialects": [Broken(), GenAI()]},
        "channel": {"channels": [Broken(), InProcess()]},
        "policy": {"policy": Broken()},
    }
    traced = Traced(**plugins[place], on_error=None)

    with caplog.at_level(logging.ERROR):
        loop(traced, turns=8)
        traced.provider.shutdown()

    assert len(traced.exporter.get_finished_spans()) >= 17
    assert [r for r in caplog.records if "goes on" in r.getMessage()]
    if place != "policy":
        assert [span.name for span in traced.corrections()] == ["watchdog-nudge-turn-5"]


def test_a_dialect_that_keeps_failing_is_switched_off(caplog):
    """After three errors it is not asked any more, and the log has one line of it."""

    class Broken:
        name = "broken"
        scopes = ("pydantic-ai",)
        prefixes = ("gen_ai.",)
        asked = 0

        def read(self, _):
            type(self).asked += 1
            raise RuntimeError("planted")

    traced = Traced(dialects=[Broken(), GenAI()], on_error=None)

    with caplog.at_level(logging.ERROR):
        loop(traced, turns=4)

    assert Broken.asked == 3
    assert len(caplog.records) == 1


def test_threads_end_spans_at_once():
    """Sixteen agents on sixteen threads: each is corrected once, in its own session."""
    traced = Traced()
    begin = threading.Barrier(16)

    def work(number):
        begin.wait()
        loop(traced, turns=6, conversation=f"c{number}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    sessions = [span.attributes["watchdog.session"] for span in traced.corrections()]
    assert sorted(sessions) == sorted(f"c{n}" for n in range(16))


def test_an_isolated_provider_gets_its_corrections():
    """Nothing goes to the global provider when the spans come from another one."""
    first, second = Traced(), Traced()

    loop(first)

    assert len(first.corrections()) == 1
    assert second.corrections() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_watches_on():
    """A lock held by another thread at the moment of the fork does not hang the child."""
    traced = Traced()
    traced.watchdog._lock.acquire()
    child = os.fork()
    if child == 0:
        loop(traced)
        os._exit(len(traced.corrections()))
    traced.watchdog._lock.release()

    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 1


def test_shutdown_works_twice_and_ends_the_watch():
    """Spans after a shutdown are not read."""
    traced = Traced()
    traced.watchdog.shutdown()
    traced.watchdog.shutdown()

    loop(traced)

    assert traced.corrections() == []
    assert traced.watchdog.force_flush()


def test_unsampled_spans_are_not_seen_and_do_no_harm():
    """A sampler that drops everything leaves the watchdog blind, not broken."""
    traced = Traced(sampler=ALWAYS_OFF)

    loop(traced)

    assert traced.corrections() == []


def test_open_spans_are_bounded():
    """Spans that never end are dropped at the limit, oldest first."""
    traced = Traced(config=WatchdogConfig(max_open_spans=16))

    for _ in range(40):
        traced.tracer.start_span("chat m", attributes={"gen_ai.operation.name": "chat"})

    assert len(traced.watchdog._open_spans) == 16
    assert trace.get_current_span() is trace.INVALID_SPAN
