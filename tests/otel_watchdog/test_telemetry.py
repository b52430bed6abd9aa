"""What the watchdog writes: correction spans, feedback events, metrics."""

import json
from dataclasses import replace

import pytest
from inline_snapshot import snapshot
from langfuse.span_filter import is_default_export_span
from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from otel_watchdog import CorrectionOutcome, Mode, Outcome, Tier
from otel_watchdog.telemetry import Telemetry
from otel_watchdog.testing import FakeClock, correction, drift_check

JUDGED = {
    "session.id": "sess",
    "user.id": "ada",
    "gen_ai.agent.name": "fixer",
    "langfuse.trace.name": "build",
    "langfuse.trace.tags": ("a", "b"),
    "gen_ai.tool.name": "ls",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.call.arguments": '{"secret": 1}',
}


def written(given):
    """Return the span that records a correction, below a parent."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("t").start_as_current_span("invoke_agent") as parent:
        context = trace.set_span_in_context(parent, Context())
        Telemetry(provider, version="1").correct(given, context, JUDGED)
    return exporter.get_finished_spans()[0]


def test_a_correction_span_whole():
    """Name, attributes and status are what review tools were seen to need."""
    span = written(correction())

    assert (span.name, dict(span.attributes), span.status.status_code.name) == snapshot(
        (
            "watchdog-nudge-turn-5",
            {
                "watchdog.detector.name": "repeated_tool_call",
                "watchdog.kind": "loop",
                "watchdog.severity": "critical",
                "watchdog.tier": 1,
                "watchdog.tier.name": "nudge",
                "watchdog.turn": 5,
                "watchdog.mode": "feedback",
                "watchdog.session": "s",
                "watchdog.correction.id": "c1",
                "watchdog.correction.n": 1,
                "langfuse.observation.metadata.watchdog.detector.name": "repeated_tool_call",
                "langfuse.observation.metadata.watchdog.kind": "loop",
                "langfuse.observation.metadata.watchdog.severity": "critical",
                "langfuse.observation.metadata.watchdog.tier": 1,
                "langfuse.observation.metadata.watchdog.tier.name": "nudge",
                "langfuse.observation.metadata.watchdog.turn": 5,
                "langfuse.observation.metadata.watchdog.mode": "feedback",
                "langfuse.observation.metadata.watchdog.session": "s",
                "langfuse.observation.metadata.watchdog.correction.id": "c1",
                "langfuse.observation.metadata.watchdog.correction.n": 1,
                "langfuse.observation.type": "guardrail",
                "langfuse.observation.level": "WARNING",
                "langfuse.observation.status_message": "repeated_tool_call: ls was called 5 times in a row with {} (tier 1 nudge)",
                "langfuse.observation.input": '{"detector":"repeated_tool_call","reason":"ls was called 5 times in a row with {}","turn":5,"tier":"nudge","evidence":{"tool":"ls","count":5},"also":[]}',
                "langfuse.observation.output": "[watchdog] stop",
                "openinference.span.kind": "GUARDRAIL",
                "input.value": '{"detector":"repeated_tool_call","reason":"ls was called 5 times in a row with {}","turn":5,"tier":"nudge","evidence":{"tool":"ls","count":5},"also":[]}',
                "input.mime_type": "application/json",
                "output.value": "[watchdog] stop",
                "output.mime_type": "text/plain",
                "gen_ai.evaluation.name": "watchdog.repeated_tool_call",
                "gen_ai.evaluation.score.label": "nudge",
                "gen_ai.evaluation.explanation": "ls was called 5 times in a row with {}",
                "session.id": "sess",
                "user.id": "ada",
                "gen_ai.agent.name": "fixer",
                "langfuse.trace.name": "build",
                "langfuse.trace.tags": ("a", "b"),
            },
            "UNSET",
        )
    )


def test_a_correction_passes_the_export_filter_of_langfuse():
    """Langfuse's SDK drops spans of unknown scopes unless they carry an attribute it knows."""
    span = written(correction())

    assert is_default_export_span(span)


def test_nothing_turns_the_span_into_something_else():
    """A tool's, operation's or model's attribute would make it a tool call or a generation."""
    span = written(correction())

    forbidden = {"gen_ai.tool.name", "gen_ai.operation.name", "gen_ai.request.model", "model"}
    assert not forbidden & set(span.attributes)
    assert '"secret"' not in json.dumps(dict(span.attributes))


@pytest.mark.parametrize(
    ("tier", "level", "status"),
    [
        (Tier.NUDGE, "WARNING", StatusCode.UNSET),
        (Tier.REDIRECT, "WARNING", StatusCode.UNSET),
        (Tier.FORCE_WRAP, "ERROR", StatusCode.UNSET),
        (Tier.HARD_STOP, "ERROR", StatusCode.ERROR),
        (Tier.TERMINATE, "ERROR", StatusCode.ERROR),
    ],
)
def test_level_and_status_follow_the_tier(tier, level, status):
    """Only what stops a run counts as an error of the trace."""
    span = written(correction(tier=tier))

    assert span.attributes["langfuse.observation.level"] == level
    assert span.status.status_code is status


def test_a_would_be_correction_is_no_warning():
    """In mode observe the level is DEFAULT and the name says that it was not delivered."""
    span = written(correction(mode=Mode.OBSERVE, tier=Tier.TERMINATE))

    assert span.name == "watchdog-terminate-turn-5-observed"
    assert span.attributes["langfuse.observation.level"] == "DEFAULT"
    assert span.status.status_code is StatusCode.UNSET


OUTCOME = Outcome(
    correction=correction(),
    outcome=CorrectionOutcome.HEEDED,
    turn=9,
    turns_to_heed=2,
    response="turned to read in turn 7",
)


def test_an_outcome_span_whole():
    """An evaluator beside the correction, with a score that averages can be made of."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry = Telemetry(provider, version="1")
    telemetry.correct(correction(), Context(), JUDGED)

    telemetry.record(OUTCOME)

    given, span = exporter.get_finished_spans()
    carried = dict(span.attributes or {})
    own = {k: v for k, v in carried.items() if ".metadata." not in k and k not in JUDGED}
    assert [link.context for link in span.links] == [given.context]
    assert carried["user.id"] == "ada"
    assert (span.name, own, span.status.status_code.name) == snapshot(
        (
            "watchdog-outcome-turn-9",
            {
                "watchdog.detector.name": "repeated_tool_call",
                "watchdog.kind": "loop",
                "watchdog.severity": "critical",
                "watchdog.tier": 1,
                "watchdog.tier.name": "nudge",
                "watchdog.turn": 9,
                "watchdog.mode": "feedback",
                "watchdog.session": "s",
                "watchdog.correction.id": "c1",
                "watchdog.correction.n": 1,
                "watchdog.outcome": "heeded",
                "watchdog.turns_to_heed": 2,
                "langfuse.observation.type": "evaluator",
                "langfuse.observation.level": "DEFAULT",
                "langfuse.observation.status_message": "heeded: turned to read in turn 7",
                "langfuse.observation.input": '{"correction":"watchdog-nudge-turn-5","reason":"ls was called 5 times in a row with {}"}',
                "langfuse.observation.output": "heeded: turned to read in turn 7",
                "openinference.span.kind": "EVALUATOR",
                "input.value": '{"correction":"watchdog-nudge-turn-5","reason":"ls was called 5 times in a row with {}"}',
                "input.mime_type": "application/json",
                "output.value": "heeded: turned to read in turn 7",
                "output.mime_type": "text/plain",
                "gen_ai.evaluation.name": "watchdog.heeded",
                "gen_ai.evaluation.score.label": "heeded",
                "gen_ai.evaluation.explanation": "turned to read in turn 7",
                "gen_ai.evaluation.score.value": 1.0,
            },
            "UNSET",
        )
    )


def test_an_outcome_whose_correction_is_forgotten_writes_no_span():
    """Nothing fails; a span without a place would be a root in some trace."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    Telemetry(provider, version="1").record(OUTCOME)

    assert exporter.get_finished_spans() == ()


def checked(check, given=None):
    """Return the spans of a correction, if `given`, and of a drift check."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry = Telemetry(provider, version="1")
    with provider.get_tracer("t").start_as_current_span("invoke_agent") as parent:
        context = trace.set_span_in_context(parent, Context())
        if given is not None:
            telemetry.correct(given, context, JUDGED)
        telemetry.check(check, context, JUDGED, correction=given.id if given else None)
    return exporter.get_finished_spans()


def test_a_drift_check_whole():
    """A model call with its tokens and cost, in two conventions, and the verdict as a score."""
    span, parent = checked(drift_check())

    assert span.parent.span_id == parent.context.span_id
    assert span.end_time - span.start_time == 1_500_000_000
    said = {"gen_ai.operation.name", *(key for key in span.attributes if key not in JUDGED)}
    own = {key: span.attributes[key] for key in sorted(said) if ".metadata." not in key}
    assert (span.name, span.kind.name, own) == snapshot(
        (
            "drift-check",
            "CLIENT",
            {
                "watchdog.verdict": "stuck",
                "watchdog.session": "s",
                "watchdog.turn": 5,
                "watchdog.confidence": 0.9,
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "small-model",
                "gen_ai.usage.input_tokens": 900,
                "gen_ai.usage.output_tokens": 40,
                "gen_ai.usage.cost": 0.011,
                "gen_ai.input.messages": '[{"role":"system","parts":[{"type":"text","content":"Say whether the agent still progresses."}]},{"role":"user","parts":[{"type":"text","content":"Task: build it. Recent calls: ls, ls, ls."}]}]',
                "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"{\\"verdict\\":\\"stuck\\"}"}],"finish_reason":"stop"}]',
                "openinference.span.kind": "LLM",
                "llm.model_name": "small-model",
                "llm.token_count.prompt": 900,
                "llm.token_count.completion": 40,
                "llm.cost.total": 0.011,
                "input.value": "Task: build it. Recent calls: ls, ls, ls.",
                "input.mime_type": "text/plain",
                "output.value": '{"verdict":"stuck"}',
                "output.mime_type": "text/plain",
                "langfuse.observation.level": "DEFAULT",
                "langfuse.observation.status_message": "stuck: the same listing again and again",
                "gen_ai.evaluation.name": "watchdog.drift",
                "gen_ai.evaluation.score.label": "stuck",
                "gen_ai.evaluation.explanation": "the same listing again and again",
            },
        )
    )


def test_a_drift_check_stands_below_its_correction():
    """So that review tools show there what the correction cost; who and where are the same."""
    given, span, _ = checked(drift_check(), correction())

    assert span.parent.span_id == given.context.span_id
    assert span.context.trace_id == given.context.trace_id
    assert {k: span.attributes[k] for k in ("session.id", "user.id")} == {
        "session.id": "sess",
        "user.id": "ada",
    }


def test_what_is_not_known_of_a_drift_check_is_left_out():
    """A judge that failed: no cost, no confidence, no answer, and what kind of failure it was."""
    failed = drift_check(verdict="error", cost_usd=None, error="TimeoutError")

    span, _ = checked(replace(failed, input_tokens=None, output_tokens=None))

    assert span.attributes["error.type"] == "TimeoutError"
    assert span.attributes["watchdog.verdict"] == "error"
    assert span.attributes["langfuse.observation.level"] == "WARNING"
    assert span.attributes["gen_ai.output.messages"] == "[]"
    for name in ("gen_ai.usage.cost", "llm.token_count.prompt", "watchdog.confidence"):
        assert name not in span.attributes


def test_secrets_in_a_drift_check_stay():
    """What the judge was shown of the run leaves the process only redacted, and bounded."""
    secret = "sk-" + "a" * 40
    given = replace(drift_check(), prompt=f"key {secret} " + "x" * 100_000, reason=secret)

    span, _ = checked(given)

    assert secret not in json.dumps(dict(span.attributes))
    assert len(span.attributes["input.value"]) == 16_384


def test_a_delivery_says_how_long_it_took():
    """From the decision until the model call has gone out with the correction."""
    exporter, clock = InMemorySpanExporter(), FakeClock()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry = Telemetry(provider, version="1", clock=clock)
    telemetry.correct(correction(), Context(), JUDGED)
    clock.advance(2.5)

    telemetry.deliver(correction())
    telemetry.deliver(correction(id="another, whose place is not known"))

    given, span = exporter.get_finished_spans()
    assert span.name == "watchdog-feedback-delivered"
    assert span.parent == given.context
    said = dict(span.attributes or {})
    assert (said["watchdog.delivery.seconds"], said["session.id"]) == (2.5, "sess")


@pytest.fixture
def counted(monkeypatch):
    """Return what reads the metrics of a `Telemetry` that is made in the test."""
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)

    def read():
        taken = reader.get_metrics_data()
        assert taken is not None
        (resource,) = json.loads(taken.to_json())["resource_metrics"]
        return {
            metric["name"]: [
                (point["attributes"], point.get("value", point.get("sum")))
                for point in metric["data"]["data_points"]
            ]
            for metric in resource["scope_metrics"][0]["metrics"]
        }

    yield read
    provider.shutdown()


def test_drift_checks_are_counted_with_their_cost(counted):
    """By verdict and agent; what a limit kept from being made is counted, too."""
    telemetry = Telemetry(TracerProvider(shutdown_on_exit=False), version="1")

    for _ in range(2):
        telemetry.check(drift_check(), Context(), {})
    telemetry.skip_check("run_budget")

    assert counted() == snapshot(
        {
            "otel_watchdog.drift_checks": [
                ({"watchdog.verdict": "stuck", "gen_ai.agent.name": "fixer"}, 2)
            ],
            "otel_watchdog.drift_check.duration": [({"watchdog.verdict": "stuck"}, 3.0)],
            "otel_watchdog.drift_check.cost": [({"gen_ai.agent.name": "fixer"}, 0.022)],
            "otel_watchdog.drift_checks.skipped": [({"watchdog.suppressed": "run_budget"}, 1)],
        }
    )
