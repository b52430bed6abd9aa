"""What all adapters do alike, without a framework."""

import pytest
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import AgentHalted, Mode, Tier, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.delivery import Delivery, refusal_of
from otel_watchdog.testing import correction, reraise


class Watched:
    """A watchdog in whose trace an agent works."""

    def __init__(self, *channels):
        config = WatchdogConfig(mode=Mode.ENFORCE)
        self.watchdog = WatchdogSpanProcessor(config=config, channels=channels, on_error=reraise)
        self.delivery = Delivery(self.watchdog, withdraw_tools=True)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(self.watchdog)
        self.tracer = provider.get_tracer("app")

    def agent(self, name, **more):
        """Open the span of an agent's run."""
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name} | more
        return self.tracer.start_as_current_span(f"invoke_agent {name}", attributes=attributes)

    def chat(self):
        """Write the span of a model call."""
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "scripted"}
        self.tracer.start_span("chat scripted", attributes=attributes).end()

    def send(self, span, **facts):
        """Send a correction to the session of the agent in a span; return it."""
        session = self.watchdog.find_session_around(span)
        assert session is not None
        sent = correction(session=session, mode=Mode.ENFORCE, **facts)
        self.watchdog.mailbox.send(sent)
        return sent


class Late:
    """A channel that has to be waited for: it brings a cap of two turns."""

    name, barrier_ms = "late", 5

    def connect(self, mailbox):
        self._mailbox = mailbox

    def note(self, session, ended):
        """Know already."""

    def catch_up(self, session):
        self._mailbox.send(correction(session=session, mode=Mode.ENFORCE, max_turns=2))

    def send(self, one):
        """Have it in the mailbox already."""

    def close(self):
        """Hold nothing."""


def fail(_):
    """Be a model call that does not go out."""
    raise ConnectionError


@pytest.fixture
def watched():
    return Watched()


def test_what_waits_is_given_out_once(watched):
    """The next turn does not say it again."""
    with watched.agent("a") as span:
        watched.chat()
        sent = watched.send(span)

        with watched.delivery.begin("r") as first:
            texts = first.texts()
        again = watched.delivery.begin("r").texts()

    assert (texts, again) == ([sent.message], [])


def test_a_call_that_failed_gives_it_back(watched):
    """The run's history holds it already; another run's does not."""
    with watched.agent("a") as span:
        watched.chat()
        sent = watched.send(span)
        with (
            pytest.raises(ConnectionError),
            watched.delivery.begin("r") as turn,
        ):
            fail(turn.texts())

        same = watched.delivery.begin("r")
        repeated = same.texts()
        same.release()
        other = watched.delivery.begin("s").texts()

    assert (repeated, other) == ([], [sent.message])


def test_what_already_stands_is_not_put_again(watched):
    """The caller has kept the history of a run that failed."""
    with watched.agent("a") as span:
        watched.chat()
        watched.send(span)

        texts = watched.delivery.begin("r").texts(lambda _: True)

    assert texts == []


def test_what_the_framework_forgets_keeps_its_place(watched):
    """It stands after the same message at every later turn of the run."""
    with watched.agent("a") as span:
        watched.chat()
        sent = watched.send(span)

        with watched.delivery.begin("r") as turn:
            first = turn.woven(["task", "call", "result"], str)
        later = watched.delivery.begin("r").woven(["task", "call", "result", "call", "result"], str)

    assert first == ["task", "call", "result", sent.message]
    assert later == ["task", "call", "result", sent.message, "call", "result"]


def test_in_a_rewritten_history_it_is_left_out(watched):
    """Its place could now be between a call and its result."""
    with watched.agent("a") as span:
        watched.chat()
        watched.send(span)
        with watched.delivery.begin("r") as turn:
            turn.places(["task", "call", "result"])

        places = watched.delivery.begin("r").places(["summary", "call"])

    assert places == []


def test_a_call_that_failed_takes_it_out_of_its_place(watched):
    """The retry puts it there anew, once."""
    with watched.agent("a") as span:
        watched.chat()
        sent = watched.send(span)
        watched.delivery.begin("r").places(["task"])
        watched.delivery.settle("r", sent=False)

        places = watched.delivery.begin("r").places(["task"])

    assert places == [(1, sent.message)]


def test_a_turn_past_the_cap_is_halted(watched):
    """Turn 3 may go out, turn 4 may not; nothing is leased for it."""
    with watched.agent("a") as span:
        watched.chat()
        sent = watched.send(span, tier=Tier.TERMINATE, max_turns=3)
        allowed = watched.delivery.begin("r", number=3)
        refused = watched.delivery.begin("r", number=4)

        with pytest.raises(AgentHalted) as raised:
            refused.check()

    assert allowed.halt is None
    assert (raised.value.turn, raised.value.correction_id) == (4, sent.id)
    assert raised.value.reason == sent.finding.reason


def test_a_cap_that_is_waited_for_binds_at_once():
    """A channel brings it at the start of the turn that it forbids."""
    watched = Watched(Late())
    with watched.agent("a"):
        watched.chat()

        refused = watched.delivery.begin("r", number=3)

    assert refused.halt is not None
    assert refused.texts() == []


def test_a_new_run_is_not_halted_by_the_cap_before(watched):
    """Its turns begin at 1."""
    with watched.agent("a") as span:
        watched.chat()
        watched.send(span, max_turns=0)

        halt = watched.delivery.begin("another").halt

    assert halt is None


def test_a_looping_tool_is_withdrawn_once_a_cap_binds(watched):
    """The one that the finding names, in that run."""
    with watched.agent("a") as span:
        watched.chat()
        watched.send(span, tier=Tier.HARD_STOP, max_turns=9)

        turn = watched.delivery.begin("r", number=2)

    assert turn.withdrawn == {"ls"}
    assert watched.delivery.refusal("r", "ls") == refusal_of("ls")
    assert watched.delivery.refusal("r", "cat") is None
    assert watched.delivery.refusal("s", "ls") is None


def test_a_sub_agent_gets_nothing_of_its_parent(watched):
    """Neither before its first model call nor after."""
    with watched.agent("parent") as span:
        watched.chat()
        sent = watched.send(span)
        with watched.agent("child"):
            before = watched.delivery.begin("child").texts()
            watched.chat()
            after = watched.delivery.begin("child").texts()
        own = watched.delivery.begin("parent").texts()

    assert (before, after, own) == ([], [], [sent.message])


def test_what_works_inside_a_tool_gets_nothing_of_who_called_it(watched):
    """Also where no span tells that another agent works there."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ask"}
    with watched.agent("parent") as span:
        watched.chat()
        watched.send(span)

        with watched.tracer.start_as_current_span("execute_tool ask", attributes=tool):
            texts = watched.delivery.begin("child").texts()

    assert texts == []


def test_a_conversation_is_found_by_its_id(watched):
    """Without a span of the agent at hand."""
    with watched.agent("a", **{"gen_ai.conversation.id": "c"}) as span:
        watched.chat()
        sent = watched.send(span)

    texts = watched.delivery.begin("r", conversation="c", agent="a").texts()

    assert texts == [sent.message]


def test_without_a_watchdog_nothing_happens(monkeypatch):
    """Turns are counted, nothing is said."""
    monkeypatch.setattr("otel_watchdog.delivery.current", lambda: None)
    delivery = Delivery()

    with delivery.begin("r") as turn:
        texts = turn.texts()

    assert (turn.number, delivery.begin("r").number, texts) == (1, 2, [])


def test_a_failure_of_ours_stays_ours(watched, monkeypatch):
    """The agent's call goes out without a correction; the failure is counted."""
    failed = []
    watched.watchdog._on_error = lambda place, error: failed.append((place, str(error)))

    def boom(*_):
        raise ValueError("boom")

    monkeypatch.setattr(watched.watchdog, "find_session_around", boom)

    turn = watched.delivery.begin("r")

    assert turn.texts() == []
    assert failed == [("delivery", "boom")]
