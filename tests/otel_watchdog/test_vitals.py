"""What the watchdog reads and how it fares, as metrics."""

import json

import pytest
from inline_snapshot import snapshot
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from otel_watchdog import InProcess, Mode, Tier
from otel_watchdog.model import ModelTurn, RunEnded, RunStarted
from otel_watchdog.testing import correction
from otel_watchdog.vitals import TIMED, Names, Vitals

STARTED = RunStarted(session="s", run="r", agent="fixer")


class Watched:
    """The vitals of one watchdog with a meter of its own."""

    def __init__(self):
        self.mailbox = InProcess(max_waiting=1)
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider(metric_readers=[self._reader])
        self.vitals = Vitals(
            lambda: ["s", "t"],
            self.mailbox,
            lambda: Mode.ENFORCE,
            meter=self.provider.get_meter("test"),
        )

    def read(self):
        """Return the metrics by name: attributes and value, or count, of each point."""
        taken = self._reader.get_metrics_data()
        assert taken is not None
        (resource,) = json.loads(taken.to_json())["resource_metrics"]
        return {
            metric["name"].removeprefix("otel_watchdog."): [
                (point["attributes"], point.get("value", point.get("count")))
                for point in metric["data"]["data_points"]
            ]
            for metric in resource["scope_metrics"][0]["metrics"]
        }


@pytest.fixture
def watched():
    """Return the vitals of one watchdog."""
    made = Watched()
    yield made
    made.provider.shutdown()


def test_what_is_counted_whole(watched):
    """Spans, runs, tokens and money by agent; what waits, and what gave way, in the mailbox."""
    vitals = watched.vitals
    for _ in range(5):
        vitals.begin()
    vitals.take(STARTED)
    turn = ModelTurn(session="s", turn=1, input_tokens=90, output_tokens=10)
    vitals.take(turn._replace(cost_usd=0.25))
    vitals.take(turn._replace(cost_usd=0.5))
    vitals.take(RunEnded(session="s", run="r", turn=2))
    for number in range(2):
        watched.mailbox.send(correction(id=f"c{number}"))

    assert watched.read() == snapshot(
        {
            "spans": [({}, 5)],
            "runs": [({"gen_ai.agent.name": "fixer", "watchdog.run.end": "finished"}, 1)],
            "agent.tokens": [({"gen_ai.agent.name": "fixer"}, 200)],
            "agent.cost": [({"gen_ai.agent.name": "fixer"}, 0.75)],
            "feedback.dropped": [({}, 1)],
            "sessions": [({}, 2)],
            "feedback.pending": [({}, 1)],
            "watchdogs": [({"watchdog.mode": "enforce"}, 1)],
        }
    )


@pytest.mark.parametrize(
    ("turn", "error", "how"),
    [(9, None, "finished"), (9, "TimeoutError", "failed"), (10, None, "capped")],
)
def test_how_a_run_ended(watched, turn, error, how):
    """At the turn that a correction had left it, by an error of its own, or neither."""
    watched.mailbox.send(correction(tier=Tier.HARD_STOP, mode=Mode.ENFORCE, max_turns=10))

    watched.vitals.take(STARTED)
    watched.vitals.take(RunEnded(session="s", run="r", turn=turn, error=error))

    ((by, count),) = watched.read()["runs"]
    assert (by["watchdog.run.end"], count) == (how, 1)


def test_one_of_so_many_spans_is_timed(watched):
    """Timing each would cost more than it is worth."""
    for _ in range(3 * TIMED):
        begun = watched.vitals.begin()
        if begun:
            watched.vitals.end(begun)

    assert watched.read()["on_end.duration"] == [({}, 3)]


def test_names_of_agents_are_bounded():
    """The names that came first keep their own; an agent without a name is no other agent."""
    names = Names(max_agents=2)

    assert [names[name] for name in ("a", "b", "c", "a", None)] == ["a", "b", "(others)", "a", ""]
