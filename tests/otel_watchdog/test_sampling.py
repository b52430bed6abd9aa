"""Everything is recorded, and what is exported stays as it was."""

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_ON,
    ParentBased,
    TraceIdRatioBased,
)

from otel_watchdog import ConfigError, sampling


def traced(sampler):
    """Trace one span; return it and what was exported."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(sampler=sampler)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("t").start_as_current_span("s", attributes={"a": 1}) as span:
        pass
    provider.shutdown()
    return span, exporter.get_finished_spans()


def test_what_is_dropped_is_recorded_with_its_attributes():
    """And not exported."""
    span, exported = traced(sampling.RecordAll(ALWAYS_OFF))

    assert dict(span.attributes) == {"a": 1}
    assert exported == ()


def test_what_is_sampled_is_exported():
    """As without it."""
    _, exported = traced(sampling.RecordAll(ALWAYS_ON))

    assert [span.name for span in exported] == ["s"]


@pytest.mark.parametrize(
    ("argument", "description"),
    [
        (None, "RecordAll{ParentBased{root:AlwaysOnSampler,"),
        ("", "RecordAll{ParentBased{root:AlwaysOnSampler,"),
        ("0.1", "RecordAll{ParentBased{root:TraceIdRatioBased{0.1},"),
    ],
)
def test_is_made_from_the_environment(argument, description, monkeypatch):
    """By OpenTelemetry's launcher, or its declarative configuration."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", argument or "")

    made = [sampling.from_environment(argument), sampling.from_configuration()]

    assert all(sampler.get_description().startswith(description) for sampler in made)


@pytest.mark.parametrize("argument", ["many", "2", "-0.1"])
def test_refuses_what_is_no_share(argument):
    """It names the variable."""
    with pytest.raises(ConfigError, match="OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1"):
        sampling.from_environment(argument)


@pytest.mark.parametrize(
    ("sampler", "is_lossy"),
    [
        (ALWAYS_ON, False),
        (DEFAULT_ON, False),
        (sampling.RecordAll(ALWAYS_OFF), False),
        (ALWAYS_OFF, True),
        (TraceIdRatioBased(0.1), True),
        (ParentBased(TraceIdRatioBased(0.1)), True),
    ],
)
def test_names_the_sampler_that_keeps_runs_from_us(sampler, is_lossy):
    """One that leaves out nothing is not named."""
    named = sampling.lost_by(TracerProvider(sampler=sampler, shutdown_on_exit=False))

    assert named == (sampler.get_description() if is_lossy else None)


def test_a_provider_without_a_sampler_says_nothing():
    """A vendor's proxy may have none."""
    assert sampling.lost_by(object()) is None
