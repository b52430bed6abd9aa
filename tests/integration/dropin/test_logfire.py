"""Beside Logfire's own set-up."""

SETUP = """
import os
import logfire
from otel_watchdog import WatchdogSpanProcessor, current, install

def configure(**options):
    logfire.configure(
        token="pylf_v1_local_x", console=False, inspect_arguments=False,
        advanced=logfire.AdvancedOptions(base_url=os.environ["RECEIVER"]), **options,
    )
"""


def test_after_configure(run, receiver):
    """The correction is exported beside the agent's spans."""
    told = run(
        "logfire",
        SETUP
        + """
configure()
watchdog = install()
agent()
logfire.force_flush()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1
    assert "execute_tool ls" in receiver.names


def test_among_its_additional_processors(run):
    """The documented form hands spans over scrubbed and with instrumentation suppressed.

    The correction is delivered; Logfire keeps spans that are begun there for itself.
    """
    told = run(
        "logfire",
        SETUP
        + """
watchdog = WatchdogSpanProcessor()
configure(additional_span_processors=[watchdog])
agent()
logfire.force_flush()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1


def test_configured_again(run, receiver):
    """A second `configure` drops what was added; `install` notices and adds it anew."""
    told = run(
        "logfire",
        SETUP
        + """
configure()
first = install()
configure()
second = install()
agent()
logfire.force_flush()
tell(second, same=first is second, closed=first.is_closed)
""",
    )

    assert told["closed"]
    assert not told["same"]
    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1


def test_a_provider_of_its_own(run, receiver):
    """`local=True` leaves the global provider alone; the watchdog goes to the local one."""
    told = run(
        "logfire",
        SETUP
        + """
local = logfire.configure(
    local=True, token="pylf_v1_local_x", console=False, inspect_arguments=False,
    advanced=logfire.AdvancedOptions(base_url=os.environ["RECEIVER"]),
)
provider = local.config.get_tracer_provider()
watchdog = install(provider)
agent(provider.get_tracer("some.instrumentation"))
local.force_flush()
tell(watchdog)
""",
    )

    assert len(told["waiting"]) == 1
    assert len(receiver.corrections) == 1
