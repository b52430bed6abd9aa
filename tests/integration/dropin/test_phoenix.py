"""Beside Phoenix's own set-up."""

SETUP = """
import os
from phoenix.otel import register
from otel_watchdog import install

options = {
    "endpoint": os.environ["RECEIVER"] + "/v1/traces", "protocol": "http/protobuf",
    "verbose": False, "batch": False,
}
"""


def test_after_register(run, receiver):
    """Phoenix's exporter stays: a plain `add_span_processor` would replace it."""
    told = run(
        "phoenix",
        SETUP
        + """
register(**options)
watchdog = install()
agent()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1
    assert receiver.names.count("execute_tool ls") == 8


def test_a_provider_of_its_own(run, receiver):
    """`register` returns it."""
    told = run(
        "phoenix",
        SETUP
        + """
own = register(set_global_tracer_provider=False, **options)
watchdog = install(own)
agent(own.get_tracer("some.instrumentation"))
tell(watchdog, same=install(own) is watchdog)
""",
    )

    assert told["same"]
    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1


def test_before_register_phoenix_gets_nothing(run, receiver):
    """Known: the global provider cannot be set twice, which OpenTelemetry says."""
    told = run(
        "phoenix",
        SETUP
        + """
watchdog = install()
register(**options)
agent()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert receiver.spans == []
    assert "Overriding of current TracerProvider is not allowed" in told["stderr"]
