"""Beside Langfuse's own set-up."""

SETUP = """
import os
from langfuse import Langfuse
from opentelemetry.sdk.trace import TracerProvider
from otel_watchdog import install

keys = {
    "public_key": "pk-lf-1", "secret_key": "sk-lf-1", "base_url": os.environ["RECEIVER"],
    "flush_at": 1,
}
"""


def test_after_the_client(run, receiver):
    """One line after it; the correction reaches Langfuse through its export filter."""
    told = run(
        "langfuse",
        SETUP
        + """
langfuse = Langfuse(**keys)
watchdog = install()
agent()
langfuse.flush()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1
    assert "execute_tool ls" in receiver.names
    assert receiver.paths >= {"/api/public/otel/v1/traces"}


def test_before_the_client(run, receiver):
    """Langfuse joins the provider that is there."""
    told = run(
        "langfuse",
        SETUP
        + """
watchdog = install()
langfuse = Langfuse(**keys)
agent()
langfuse.flush()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1


def test_with_a_provider_of_its_own(run, receiver):
    """Isolated: the watchdog goes where Langfuse is, and its corrections stay there."""
    told = run(
        "langfuse",
        SETUP
        + """
own = TracerProvider()
langfuse = Langfuse(tracer_provider=own, **keys)
watchdog = install(own)
agent(own.get_tracer("some.instrumentation"))
langfuse.flush()
tell(watchdog, is_global=trace.get_tracer_provider() is own)
""",
    )

    assert not told["is_global"]
    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1


def test_sampled_away_it_says_so(run):
    """`sample_rate` keeps runs from every processor; the watchdog names the sampler."""
    told = run(
        "langfuse",
        SETUP
        + """
langfuse = Langfuse(sample_rate=0.0, **keys)
watchdog = install()
agent()
tell(watchdog)
""",
    )

    assert told["waiting"] == []
    assert "samples by" in told["stderr"]
