"""The entry point of OpenTelemetry's launcher: harmless, once, and never in the way."""

import dataclasses

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from otel_watchdog import Mode, WatchdogConfig
from otel_watchdog.instrumentor import WatchdogInstrumentor


@pytest.fixture
def provider(monkeypatch):
    """Return the global tracer provider of a process that nobody watches yet."""
    provider = TracerProvider(shutdown_on_exit=False)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.setattr(WatchdogInstrumentor, "_watchdog", None)
    for name in ("OTEL_WATCHDOG_MODE", "OTEL_CONFIG_FILE", "OTEL_WATCHDOG_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return provider


def watchdogs(provider):
    """Return what was added."""
    return provider._active_span_processor._span_processors


def modes(provider):
    """Return the modes of the watchdogs that were added."""
    return [watchdog._config.mode for watchdog in watchdogs(provider)]


def test_observes_unless_told_more(provider):
    """By the launcher, which passes an option of its own."""
    WatchdogInstrumentor().instrument(skip_dep_check=True)

    assert modes(provider) == [Mode.OBSERVE]


@pytest.mark.parametrize("way", ["variable", "option", "file"])
def test_the_mode_comes_from_settings(provider, monkeypatch, tmp_path, way):
    """From wherever settings come from."""
    options = {}
    if way == "variable":
        monkeypatch.setenv("OTEL_WATCHDOG_MODE", "enforce")
    elif way == "file":
        file = tmp_path / "settings.yaml"
        file.write_text("mode: enforce\n", "utf-8")
        monkeypatch.setenv("OTEL_WATCHDOG_CONFIG", str(file))
    else:
        options = {"mode": "enforce"}

    WatchdogInstrumentor().instrument(**options)

    assert modes(provider) == [Mode.ENFORCE]


def test_is_done_once(provider):
    """The launcher and a configuration both call."""
    WatchdogInstrumentor().instrument(mode="feedback")
    WatchdogInstrumentor().instrument(skip_dep_check=True)

    assert modes(provider) == [Mode.FEEDBACK]
    assert WatchdogInstrumentor().is_instrumented_by_opentelemetry


def test_a_declarative_configuration_has_the_last_word(provider, monkeypatch):
    """The launcher's call adds nothing where a file is in charge."""
    monkeypatch.setenv("OTEL_CONFIG_FILE", "otel.yaml")

    WatchdogInstrumentor().instrument(skip_dep_check=True)

    assert watchdogs(provider) == ()


def test_never_raises(provider, caplog):
    """That would end the loading of everybody else's instrumentation."""
    WatchdogInstrumentor().instrument(refractory_turns="many")

    assert watchdogs(provider) == ()
    assert "not watching: refractory_turns" in caplog.text


def test_can_be_undone_and_done_again(provider):
    """What was added closes."""
    WatchdogInstrumentor().instrument()
    WatchdogInstrumentor().uninstrument()
    WatchdogInstrumentor().uninstrument()
    was_closed = [watchdog.is_closed for watchdog in watchdogs(provider)]
    WatchdogInstrumentor().instrument()

    assert was_closed == [True]
    assert [watchdog.is_closed for watchdog in watchdogs(provider)] == [True, False]


def test_a_configuration_may_hold_every_setting():
    """By the names of the settings, none of them needed."""
    fields = dataclasses.fields(WatchdogInstrumentor.configuration)

    assert {field.name for field in fields} == set(WatchdogConfig.model_fields)
    assert {field.default for field in fields} == {None}
