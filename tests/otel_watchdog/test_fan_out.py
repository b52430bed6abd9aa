"""Every channel is told, none is in the way of another, and the ladder hears of each claim."""

import pytest
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import (
    InProcess,
    RunStarted,
    WatchdogConfig,
    WatchdogSpanProcessor,
)
from otel_watchdog.channels import SignalFile
from otel_watchdog.channels.base import Ended
from otel_watchdog.fan_out import MAX_PLUGIN_ERRORS, FanOut
from otel_watchdog.testing import correction, reraise
from otel_watchdog.transport import signal_files


class Plain:
    """A channel that only sends."""

    name = "plain"

    def __init__(self, *, broken=False):
        self.broken, self.told = broken, []

    def send(self, one):
        self.told.append(one.id)
        if self.broken:
            raise RuntimeError("planted")

    def close(self):
        self.told.append("closed")


class Whole(Plain):
    """A channel that asks for everything."""

    name = "whole"

    def listen(self, *, on_lease, on_claim):
        self.listeners = on_lease, on_claim

    def connect(self, mailbox):
        self.mailbox = mailbox

    def observe(self, observation):
        self.told.append(observation)


class Awaited(Plain):
    """A channel that a turn's start may wait for."""

    name = "awaited"

    def __init__(self, *, barrier_ms, broken=False):
        super().__init__()
        self.barrier_ms, self.fails = barrier_ms, broken

    def note(self, session, ended):
        self.told.append((session, ended))

    def catch_up(self, session):
        self.told.append(f"asked for {session}")
        if self.fails:
            raise RuntimeError("planted")


@pytest.fixture
def errors():
    """Return what failed."""
    return []


def fan_out(channels, errors):
    """Put channels together."""
    return FanOut(
        channels,
        on_lease=lambda _: None,
        on_claim=lambda _: None,
        on_error=lambda name, error: errors.append((name, str(error))),
    )


def test_each_channel_gets_what_it_asks_for(errors):
    """A mailbox is always there."""
    plain, whole, started = Plain(), Whole(), RunStarted("s", "r")
    together = fan_out([plain, whole], errors)

    together.send(correction(id="a"))
    together.observe([started])
    together.close()

    assert plain.told == ["a", "closed"]
    assert whole.told == ["a", started, "closed"]
    assert whole.mailbox is together.mailbox
    assert len(whole.listeners) == 2
    assert errors == []


def test_a_mailbox_that_is_given_is_the_one(errors):
    """There is no second one."""
    mailbox = InProcess()

    assert fan_out([Plain(), mailbox], errors).mailbox is mailbox


def test_one_that_is_awaited_is_told_of_spans_and_asked_before_a_look_up(errors):
    """Once for each session; one without a barrier is neither."""
    awaited, other = Awaited(barrier_ms=5), Awaited(barrier_ms=0)
    together = fan_out([awaited, other], errors)
    ended = Ended(1, 2, print)
    started = RunStarted("s", "r")

    together.note([started, RunStarted("t", "r"), started], ended)
    together.mailbox.lease("s")

    assert together.is_awaited
    assert sorted(awaited.told[:2]) == [("s", ended), ("t", ended)]
    assert awaited.told[2:] == ["asked for s"]
    assert other.told == []


def test_one_that_is_awaited_and_fails_is_switched_off(errors):
    """A look-up goes on without it."""
    awaited = Awaited(barrier_ms=5, broken=True)
    together = fan_out([awaited], errors)
    together.send(correction(id="a"))

    leased = [together.mailbox.lease("s") for _ in range(5)]

    assert [[one.id for one in each] for each in leased] == [["a"], [], [], [], []]
    assert errors == [("awaited", "planted")] * MAX_PLUGIN_ERRORS
    assert not together.is_awaited


def test_one_that_fails_is_switched_off_and_the_rest_goes_on(errors):
    """After three errors."""
    broken, plain = Plain(broken=True), Plain()
    together = fan_out([broken, plain], errors)

    for id_ in "abcde":
        together.send(correction(id=id_))

    assert broken.told == list("abc")
    assert plain.told == list("abcde")
    assert errors == [("plain", "planted")] * MAX_PLUGIN_ERRORS


def test_what_was_given_another_way_is_not_given_again(errors):
    """A correction waits on every channel, and goes out on one."""
    whole = Whole()
    together = fan_out([whole], errors)
    together.send(correction(id="a"))
    together.send(correction(id="b"))

    whole.listeners[1](correction(id="a"))

    assert [one.id for one in together.mailbox.lease("s")] == ["b"]


def test_an_agent_that_reads_the_file_is_taken_up_the_ladder(tmp_path, eventually):
    """Spans in, a file out; that it is gone counts as claimed, and the next one is firmer."""
    channel = SignalFile(tmp_path / "agent", one_agent=True, poll_seconds=0.005)
    config = WatchdogConfig(refractory_seconds=0, refractory_turns=0)
    watchdog = WatchdogSpanProcessor(config=config, channels=[channel], on_error=reraise)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(watchdog)
    tracer = provider.get_tracer("pydantic-ai")
    who = {"gen_ai.agent.name": "fixer", "gen_ai.conversation.id": "c"}
    tiers: list[str] = []
    calls = 0

    def call_again():
        nonlocal calls
        calls += 1
        for operation, more in (("chat", {}), ("execute_tool", {"gen_ai.tool.name": "ls"})):
            attributes = who | {"gen_ai.operation.name": operation} | more
            with tracer.start_as_current_span(operation, attributes=attributes) as span:
                span.set_attribute("gen_ai.tool.call.arguments", "{}")
                span.set_attribute("gen_ai.tool.call.result", "a b c")
        found = signal_files.claim(tmp_path / "agent", on_bad=pytest.fail)
        tiers.extend(signal.tier for signal in found)
        return len(tiers) >= 3 or calls > 400

    with tracer.start_as_current_span(
        "invoke_agent fixer", attributes=who | {"gen_ai.operation.name": "invoke_agent"}
    ):
        eventually(call_again)
    provider.shutdown()

    assert tiers[:3] == ["nudge", "redirect", "force-wrap"]
