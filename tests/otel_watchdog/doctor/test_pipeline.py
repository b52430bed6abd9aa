"""What is wrong with a live tracer provider."""

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from otel_watchdog import WatchdogSpanProcessor, doctor, install, sampling


def provider(**options):
    """Return a tracer provider that has no watchdog yet."""
    return TracerProvider(shutdown_on_exit=False, **options)


class Enricher(SpanProcessor):
    """Stands for a processor that adds attributes when a span ends."""


Enricher.__module__ = "openinference.instrumentation.x"


def test_a_provider_with_a_watchdog_is_well():
    """Its processors are listed in their order."""
    watched = provider()
    install(watched)

    report = doctor.examine(watched)

    assert report.is_well
    assert report.processors == ["otel_watchdog.processor.WatchdogSpanProcessor"]


def test_a_provider_without_a_watchdog_is_told_the_line():
    """One line installs it."""
    report = doctor.examine(provider())

    assert ["install(provider)" in problem for problem in report.problems] == [True]


def test_a_provider_that_takes_no_processor_is_told_so():
    """The API's default does nothing."""
    report = doctor.examine(trace.NoOpTracerProvider())

    assert "takes no span processors" in report.problems[0]


def test_a_watchdog_that_was_shut_down_reads_nothing():
    """It has to be installed again."""
    watched = provider()
    install(watched).shutdown()

    assert "was shut down" in doctor.examine(watched).problems[0]


def test_two_watchdogs_are_one_too_many():
    """Each would correct on its own."""
    watched = provider()
    for _ in range(2):
        watched.add_span_processor(WatchdogSpanProcessor())

    assert "more than one" in doctor.examine(watched).problems[0]


def test_who_enriches_spans_has_to_come_first():
    """The watchdog reads a span as it is then."""
    early, late = provider(), provider()
    early.add_span_processor(Enricher())
    install(early)
    install(late)
    late.add_span_processor(Enricher())

    assert doctor.examine(early).problems == []
    assert "add it first" in doctor.examine(late).problems[0]


def test_a_sampler_that_drops_runs_is_named():
    """What it drops no processor sees."""
    lossy = provider(sampler=TraceIdRatioBased(0.1))
    whole = provider(sampler=sampling.RecordAll(TraceIdRatioBased(0.1)))
    for one in (lossy, whole):
        one.add_span_processor(WatchdogSpanProcessor())

    assert "TraceIdRatioBased{0.1}" in doctor.examine(lossy).problems[0]
    assert doctor.examine(whole).problems == []


def test_what_a_live_agent_hides_is_told():
    """As the detectors of its session say."""
    watched = provider()
    install(watched)
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}
    watched.get_tracer("app").start_span("execute_tool read", attributes=tool).end()

    report = doctor.examine(watched)

    assert any("arguments" in reason for reason in report.blind)
