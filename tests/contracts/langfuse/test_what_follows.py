"""What follows a correction in Langfuse: that it reached its agent, and what the agent did then."""

import json

import pytest

RUN = {"operation__name": "invoke_agent", "agent__name": "fixer", "conversation__id": "talk"}
ORDERS = pytest.mark.parametrize("watchdog_first", [True, False], ids=["before", "after"])


@pytest.fixture
def followed(program):
    """Return what plays a loop whose agent takes its correction, and goes on as before."""

    def play(*, watchdog_first=True, late=False):
        traced = program(watchdog_first=watchdog_first)
        mailbox = traced.watchdog.mailbox

        def take():
            session = traced.watchdog.find_session("talk", "fixer")
            mailbox.acknowledge(mailbox.lease(session))

        with traced.span("invoke_agent fixer", **RUN) as run:
            run.set_attribute("user.id", "ada")
            for _ in range(5):
                traced.call()
            if not late:
                take()
            traced.call()
        if late:
            take()
        return traced

    return play


@ORDERS
def test_a_delivery_is_an_event_below_its_correction(followed, watchdog_first):
    """It passes the export filter, says what was said and how long that took, and costs nothing."""
    traced = followed(watchdog_first=watchdog_first)

    given, delivered, _ = traced.corrections()
    assert (delivered.type, delivered.name) == ("EVENT", "watchdog-feedback-delivered")
    assert delivered.span.parent.span_id == given.span.context.span_id
    assert delivered.output == given.output
    assert (delivered.session, delivered.user) == ("talk", "ada")
    assert (delivered.level, delivered.cost, delivered.is_root) == ("DEFAULT", 0.0, False)
    seconds = delivered.first("langfuse.observation.metadata.watchdog.delivery.seconds")
    assert 0 <= seconds < 60


@ORDERS
def test_an_outcome_is_an_evaluation_beside_its_correction(followed, watchdog_first):
    """With a score that averages can be made of, and no second cost."""
    traced = followed(watchdog_first=watchdog_first)

    given, _, outcome = traced.corrections()
    assert (outcome.type, outcome.level) == ("EVALUATOR", "WARNING")
    assert outcome.name == "watchdog-outcome-turn-6"
    assert outcome.span.parent.span_id == given.span.parent.span_id
    assert (outcome.session, outcome.user) == ("talk", "ada")
    assert outcome.first("gen_ai.evaluation.score.value") == 0.0
    assert json.loads(outcome.input)["correction"] == given.name
    assert (outcome.cost, outcome.is_root) == (0.0, False)


def test_none_of_them_is_a_root_or_names_the_trace(followed, trace_of):
    """Not even a delivery after the run's span has ended."""
    traced = followed(late=True)

    assert [row.name for row in traced.corrections()][-1] == "watchdog-feedback-delivered"
    whole = trace_of(traced.spans())
    assert [row.name for row in whole.roots] == ["invoke_agent fixer"]
    assert (whole.name, whole.session) == ("invoke_agent fixer", "talk")
    assert whole.cost == pytest.approx(0.06)
