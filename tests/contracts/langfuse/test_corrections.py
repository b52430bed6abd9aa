"""A correction in Langfuse: beside the agent, as what it is, and harmless to the trace."""

import contextvars
import json
import threading

import pytest
from langfuse import propagate_attributes
from opentelemetry import context as contexts, trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_watchdog import Mode, RepeatedToolCall, WatchdogConfig, WatchdogSpanProcessor
from otel_watchdog.sampling import RecordAll
from otel_watchdog.testing import reraise

RUN = {"operation__name": "invoke_agent", "agent__name": "fixer", "conversation__id": "talk"}
ORDERS = pytest.mark.parametrize("watchdog_first", [True, False], ids=["before", "after"])


def loop(program, turns=5):
    """Let an agent make the same call again and again; return its run's span."""
    with program.span("invoke_agent fixer", **RUN) as run:
        for _ in range(turns):
            program.call()
    return run


@ORDERS
def test_it_is_a_guardrail_that_says_what_fired_and_what_was_said(program, watchdog_first):
    """Type, name, level, input and output, whichever processor was registered first."""
    traced = program(watchdog_first=watchdog_first)

    loop(traced)

    (row,) = traced.corrections()
    assert (row.type, row.name, row.level) == ("GUARDRAIL", "watchdog-nudge-turn-5", "WARNING")
    assert json.loads(row.input)["detector"] == "repeated_tool_call"
    assert row.output.startswith("[watchdog]")
    assert not {"tools", "tool_calls", "role", "content"} & set(json.loads(row.input))
    assert row.first("langfuse.observation.metadata.gen_ai.agent.name") == "fixer"


@ORDERS
def test_it_says_whose_it_is_where_the_judged_span_does_not(program, watchdog_first):
    """Session, agent and user come from the run's span, without any help of Langfuse's SDK."""
    traced = program(watchdog_first=watchdog_first)

    with traced.span("invoke_agent fixer", **RUN) as run:
        run.set_attribute("user.id", "ada")
        run.set_attribute("langfuse.trace.tags", ("a", "b"))
        run.set_attribute("langfuse.trace.metadata.team", "blue")
        for _ in range(5):
            traced.call()

    (row,) = traced.corrections()
    assert (row.session, row.user, row.tags) == ("talk", "ada", ("a", "b"))
    assert row.first("gen_ai.agent.name") == "fixer"
    assert row.first("langfuse.trace.metadata.team") == "blue"


def test_a_conversation_in_another_spelling_counts(program):
    """What a dialect takes for the session is the correction's session in Langfuse, too."""
    traced = program()

    with traced.tracer.start_as_current_span(
        "AgentRun",
        attributes={
            "openinference.span.kind": "AGENT",
            "agent.name": "fixer",
            "session.id": "talk",
        },
    ):
        for _ in range(5):
            traced.call()

    (row,) = traced.corrections()
    assert row.session == "talk"
    assert row.first("gen_ai.agent.name") == "fixer"


@ORDERS
def test_what_langfuse_propagates_stands_on_it(program, watchdog_first):
    """Its SDK copies session, user, tags and trace name out of the captured context."""
    traced = program(watchdog_first=watchdog_first)

    with (
        traced.langfuse.start_as_current_observation(name="job", as_type="agent"),
        propagate_attributes(session_id="s1", user_id="ada", tags=["a", "b"], trace_name="build"),
    ):
        loop(traced)

    (row,) = traced.corrections()
    assert (row.session, row.user, row.trace_name) == ("s1", "ada", "build")
    assert list(row.tags) == ["a", "b"]


@ORDERS
def test_the_trace_stays_what_it_was(program, trace_of, watchdog_first):
    """Name, root, input, session, tags and cost are those of the same run without a watchdog."""

    def play(**options):
        traced = program(watchdog_first=watchdog_first, **options)
        with (
            traced.langfuse.start_as_current_observation(name="job", input="do it") as root,
            propagate_attributes(session_id="s1", tags=["a"], trace_name="build"),
        ):
            loop(traced)
        root.end()
        return trace_of(traced.spans()), traced

    watched, traced = play()
    plain, _ = play(detectors=[])

    assert traced.corrections()
    assert [row.name for row in watched.roots] == [row.name for row in plain.roots] == ["job"]
    for fact in ("name", "session", "user", "tags", "environment", "input", "cost"):
        assert getattr(watched, fact) == getattr(plain, fact), fact
    assert watched.cost == pytest.approx(0.05)


@ORDERS
def test_after_its_root_has_ended(program, watchdog_first):
    """Work that outlives the run's span: the correction is no second root."""
    traced = program(watchdog_first=watchdog_first)
    with traced.span("invoke_agent fixer", **RUN) as run:
        context = trace.set_span_in_context(run)

    for _ in range(5):
        traced.call(context)

    (row,) = traced.corrections()
    assert not row.is_root
    assert row.span.parent.span_id == run.get_span_context().span_id
    assert row.session == "talk"
    assert row.first("gen_ai.agent.name") == "fixer"


@ORDERS
def test_from_another_thread(program, watchdog_first):
    """Spans that end on a thread without the program's context."""
    traced = program(watchdog_first=watchdog_first)
    with traced.span("invoke_agent fixer", **RUN) as run:
        context = trace.set_span_in_context(run)

        def work():
            for _ in range(5):
                traced.call(context)

        thread = threading.Thread(target=lambda: contextvars.Context().run(work))
        thread.start()
        thread.join()

    (row,) = traced.corrections()
    assert (row.is_root, row.session) == (False, "talk")
    assert row.span.context.trace_id == run.get_span_context().trace_id


def test_a_watchdog_that_came_late(program):
    """It did not see the judged spans begin, so it has no context of theirs; they stay the parent's."""
    traced = program(config=WatchdogConfig(mode=Mode.OFF))
    with traced.span("invoke_agent fixer", **RUN) as run:
        around = trace.set_span_in_context(run)
        call = {
            "operation__name": "execute_tool",
            "tool__name": "ls",
            "tool__call__arguments": "{}",
        }
        attributes = {f"gen_ai.{key.replace('__', '.')}": value for key, value in call.items()}
        spans = [traced.tracer.start_span("ls", around, attributes=attributes) for _ in range(2)]
        late = WatchdogSpanProcessor(detectors=[RepeatedToolCall(threshold=2)], on_error=reraise)
        traced.provider.add_span_processor(late)
        with traced.span("chat m", operation__name="chat"):
            pass

        token = contexts.attach(contexts.Context())
        for span in spans:
            span.end()
        contexts.detach(token)

    (row,) = traced.corrections()
    assert not row.is_root
    assert row.span.parent.span_id == run.get_span_context().span_id


def test_isolated_providers_keep_their_corrections(program):
    """Two clients, two projects: each gets its own agent's correction only."""
    one, other = program(), program()

    loop(one)
    loop(other, turns=4)

    assert len(one.corrections()) == 1
    assert other.corrections() == []


def test_a_judged_root_is_not_joined_by_a_second(program, trace_of):
    """Spans without a run around them are roots; the correction stands below one."""
    traced = program(detectors=[RepeatedToolCall(threshold=2)])

    for _ in range(2):
        with traced.span(
            "execute_tool ls",
            operation__name="execute_tool",
            tool__name="ls",
            tool__call__arguments="{}",
            conversation__id="talk",
        ):
            pass

    (row,) = traced.corrections()
    assert not row.is_root
    mine = [s for s in traced.spans() if s.context.trace_id == row.span.context.trace_id]
    assert [root.name for root in trace_of(mine).roots] == ["ls"]


@pytest.mark.parametrize("with_run", [True, False])
def test_of_a_trace_that_is_not_sampled_nothing_comes(program, with_run):
    """The run is watched, and the correction waits for the agent; no orphan reaches Langfuse."""
    traced = program(sampler=RecordAll(ALWAYS_OFF), detectors=[RepeatedToolCall(threshold=2)])

    if with_run:
        loop(traced)
    else:
        for _ in range(2):
            with traced.span(
                "execute_tool ls",
                operation__name="execute_tool",
                tool__name="ls",
                tool__call__arguments="{}",
                conversation__id="talk",
            ):
                pass

    assert traced.spans() == ()
    session = traced.watchdog.find_session("talk", "fixer" if with_run else None)
    assert traced.watchdog.mailbox.lease(session)
