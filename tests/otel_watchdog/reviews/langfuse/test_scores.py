"""Corrections and outcomes as scores."""

import dataclasses

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from otel_watchdog import Mode, Tier
from otel_watchdog.model import CorrectionOutcome, Outcome
from otel_watchdog.reviews.langfuse import LangfuseScores
from otel_watchdog.sampling import RecordAll
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import correction


class Written:
    """A provider with the scores on it, and what writes corrections there."""

    def __init__(self, client, sampler=None):
        self.client = client
        self.provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        self.scores = LangfuseScores(client)
        self.provider.add_span_processor(self.scores)
        self.telemetry = Telemetry(self.provider, version="1")
        self.run = self.provider.get_tracer("t").start_span("run", Context())
        self.context = trace.set_span_in_context(self.run, Context())
        self.trace_id = f"{self.run.get_span_context().trace_id:032x}"

    def write(self, *facts):
        """Write corrections and outcomes, and wait until they have left."""
        for fact in facts:
            if isinstance(fact, Outcome):
                self.telemetry.record(fact)
            else:
                self.telemetry.correct(fact, self.context, {})
        assert self.provider.force_flush()
        self.client.flush()


def test_a_correction_has_its_tier_and_detector(client, fake):
    """Both are on the correction, its trace has maxima, and ids are fixed."""
    written = Written(client)

    written.write(correction(id="c1"), correction(id="c2", tier=Tier.REDIRECT, n=2))

    assert {id_: score["value"] for id_, score in fake.scores.items()} == {
        "c1-watchdog.tier": "nudge",
        "c1-watchdog.detector": "repeated_tool_call",
        "c2-watchdog.tier": "redirect",
        "c2-watchdog.detector": "repeated_tool_call",
        f"{written.trace_id}-watchdog.max_tier": 2.0,
        f"{written.trace_id}-watchdog.corrections": 2.0,
    }
    assert fake.scores["c1-watchdog.tier"]["traceId"] == written.trace_id
    assert fake.scores["c1-watchdog.tier"]["dataType"] == "CATEGORICAL"
    assert fake.scores["c1-watchdog.tier"]["comment"].startswith("ls was called")


@pytest.mark.parametrize(
    ("outcome", "heeded", "turns"),
    [(CorrectionOutcome.HEEDED, 1.0, 2.0), (CorrectionOutcome.IGNORED, 0.0, None)],
)
def test_an_outcome_is_a_score_on_its_correction(client, fake, outcome, heeded, turns):
    """It says whether the agent heeded, and after how many turns, on the correction's own span."""
    written = Written(client)
    given = correction(id="c1")
    told = Outcome(
        correction=given,
        outcome=outcome,
        turn=7,
        turns_to_heed=2 if turns else None,
        response="it called grep",
    )

    written.write(given, told)

    score = fake.scores["c1-watchdog.heeded"]
    assert (score["value"], score["dataType"], score["comment"]) == (
        heeded,
        "BOOLEAN",
        "it called grep",
    )
    assert score["observationId"] == fake.scores["c1-watchdog.tier"]["observationId"]
    assert fake.scores.get("c1-watchdog.turns_to_heed", {}).get("value") == turns


def test_a_relapse_takes_heeded_back(client, fake):
    """The score's id is fixed, so the later word stands."""
    written = Written(client)
    given = correction(id="c1")
    heeded = Outcome(correction=given, outcome=CorrectionOutcome.HEEDED, turn=6, turns_to_heed=1)

    written.write(given, heeded)
    written.write(dataclasses.replace(heeded, outcome=CorrectionOutcome.RELAPSED, turn=9))

    assert fake.scores["c1-watchdog.heeded"]["value"] == 0.0


def test_what_was_not_delivered_is_scored_apart(client, fake):
    """Charts of real corrections stay free of would-be ones."""
    written = Written(client)

    written.write(correction(id="c1", mode=Mode.OBSERVE))

    assert set(fake.scores) == {"c1-watchdog.tier-observed", "c1-watchdog.detector-observed"}


def test_a_trace_that_is_not_sampled_has_no_scores(client, fake):
    """They would hang in the air."""
    written = Written(client, RecordAll(ALWAYS_OFF))

    written.write(correction(id="c1"))

    assert fake.scores == {}


def test_langfuse_down_changes_nothing(client, fake):
    """Writing returns at once, nothing raises, and shutting down ends."""
    fake.stop()
    written = Written(client)

    written.telemetry.correct(correction(id="c1"), written.context, {})
    written.provider.shutdown()

    assert fake.scores == {}
