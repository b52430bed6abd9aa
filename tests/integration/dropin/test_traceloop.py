"""Beside Traceloop's own set-up."""

SETUP = """
import os
os.environ["TRACELOOP_TELEMETRY"] = "false"
from traceloop.sdk import Traceloop
from otel_watchdog import WatchdogSpanProcessor, install

options = {
    "app_name": "app", "api_endpoint": os.environ["RECEIVER"], "api_key": "k",
    "disable_batch": True, "instruments": set(),
}
"""


def test_after_init(run, receiver):
    """Traceloop's exporter stays."""
    told = run(
        "traceloop",
        SETUP
        + """
Traceloop.init(**options)
watchdog = install()
agent()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1
    assert receiver.names.count("execute_tool ls") == 8


def test_before_init(run, receiver):
    """Traceloop joins the provider that is there."""
    told = run(
        "traceloop",
        SETUP
        + """
watchdog = install()
Traceloop.init(**options)
agent()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1


def test_in_its_list_of_processors(run, receiver):
    """The documented form: beside Traceloop's default one, which else is replaced."""
    told = run(
        "traceloop",
        SETUP
        + """
watchdog = WatchdogSpanProcessor()
default = Traceloop.get_default_span_processor(
    disable_batch=True, api_endpoint=os.environ["RECEIVER"], api_key="k"
)
Traceloop.init(processor=[default, watchdog], **options)
agent()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1
