"""One line to watch a process: once a provider, and only where it can work."""

import gc
import subprocess
import sys
import textwrap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.util._once import Once

from otel_watchdog import ConfigError, Mode, WatchdogConfig, current, install


@pytest.fixture
def no_global_provider(monkeypatch):
    """Have no global tracer provider for a while."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())


def processors(provider):
    """Return a provider's processors."""
    return provider._active_span_processor._span_processors


def test_installs_once_a_provider():
    """A second call returns the first one's, whatever it asks for."""
    provider = TracerProvider(shutdown_on_exit=False)

    first = install(provider)
    second = install(provider, config=WatchdogConfig(mode=Mode.OFF))

    assert first is second
    assert processors(provider) == (first,)


def test_threads_that_install_at_once_install_one():
    """Parts of a program may each do it as they start."""
    provider = TracerProvider(shutdown_on_exit=False)
    start = threading.Barrier(8)

    def installing(_):
        start.wait()
        return install(provider)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(installing, range(8)))

    assert len(set(map(id, found))) == 1
    assert len(processors(provider)) == 1


def test_two_providers_have_a_watchdog_each():
    """Nothing is shared between them; the last is the process's."""
    first = install(TracerProvider(shutdown_on_exit=False))
    second = install(TracerProvider(shutdown_on_exit=False))

    assert first is not second
    assert current() is second


def test_passes_options_on():
    """They are those of the processor."""
    watchdog = install(
        TracerProvider(shutdown_on_exit=False), config=WatchdogConfig(mode=Mode.ENFORCE)
    )

    assert watchdog._engine.mode is Mode.ENFORCE


def test_a_wrong_option_installs_nothing():
    """A second, right call does."""
    provider = TracerProvider(shutdown_on_exit=False)

    with pytest.raises(TypeError):
        install(provider, no_such_option=True)

    assert processors(provider) == ()
    assert install(provider) in processors(provider)


@pytest.mark.usefixtures("no_global_provider")
def test_makes_a_global_provider_where_there_is_none():
    """So that one line is all it takes."""
    watchdog = install()

    assert watchdog in processors(trace.get_tracer_provider())
    assert install() is watchdog


@pytest.mark.usefixtures("no_global_provider")
def test_takes_the_global_provider_that_is_there():
    """The program's own exporters see the corrections."""
    provider = TracerProvider(shutdown_on_exit=False)
    trace.set_tracer_provider(provider)

    assert install() in processors(provider)


@pytest.mark.usefixtures("no_global_provider")
def test_refuses_a_provider_that_takes_no_processors():
    """It says what was found and what to pass."""
    trace.set_tracer_provider(trace.NoOpTracerProvider())

    with pytest.raises(ConfigError, match="is a NoOpTracerProvider, which takes no span proc"):
        install()


def test_holds_no_provider_back():
    """A provider that its owner forgets is forgotten, and its watchdog with it."""
    provider = TracerProvider(shutdown_on_exit=False)
    watchdog = weakref.ref(install(provider))
    gone = weakref.ref(provider)

    del provider
    gc.collect()

    assert gone() is None
    assert watchdog() is None


def test_a_process_that_installs_and_ends_is_left_alone():
    """No thread keeps it, nothing is printed."""
    program = textwrap.dedent("""
        from otel_watchdog import install
        install()
        install()
    """)

    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_provider_that_was_shut_down_gets_a_new_one():
    """Its first watchdog is closed; so it is where a vendor's second set-up drops processors."""
    provider = TracerProvider(shutdown_on_exit=False)
    first = install(provider)
    first.shutdown()

    second = install(provider)

    assert first is not second
    assert processors(provider) == (first, second)


def test_a_provider_that_is_nobodys_key_will_do():
    """As a vendor's proxy, which is not the SDK's class and has no hash."""

    class Proxy:
        __hash__ = None  # type: ignore[assignment] # as Logfire's

        def __init__(self):
            self.added = []

        def add_span_processor(self, processor):
            self.added.append(processor)

    provider: Any = Proxy()

    assert install(provider) is install(provider)
    assert len(provider.added) == 1


def test_the_default_processor_of_a_vendor_stays():
    """Phoenix replaces it unless it is told not to."""
    told = []

    class Provider(TracerProvider):
        def add_span_processor(self, processor, replace_default_processor=True):  # noqa: FBT002 - as theirs
            told.append(replace_default_processor)
            super().add_span_processor(processor)

    install(Provider(shutdown_on_exit=False))

    assert told == [False]


def test_a_sampler_that_drops_runs_is_named(caplog):
    """They are not watched."""
    install(TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False))

    assert "samples by AlwaysOffSampler" in caplog.text


def test_threads_that_install_at_once_share_one():
    """Whoever is first makes it."""
    provider, made = TracerProvider(shutdown_on_exit=False), []
    start = threading.Barrier(8, timeout=10)

    def work():
        start.wait()
        made.append(install(provider))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(made)) == 1
    assert processors(provider) == (made[0],)
