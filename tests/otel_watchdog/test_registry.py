"""Plug-ins by kind and name: built-ins, then those of installed packages."""

import importlib.metadata

import pytest

from otel_watchdog import InProcess, Ladder, PluginError, RepeatedToolCall, registry


class Foreign:
    """Somebody's detector."""

    name = "foreign"


@pytest.fixture
def offers(monkeypatch):
    """Have packages installed that offer plug-ins of these kinds, names and values."""

    def offer(*given):
        points = importlib.metadata.EntryPoints(
            importlib.metadata.EntryPoint(name, value, f"otel_watchdog.{kind}")
            for kind, name, value in given
        )
        monkeypatch.setattr(registry, "entry_points", points.select)

    return offer


@pytest.mark.parametrize(
    ("kind", "name", "plugin"),
    [
        ("detectors", "repeated_tool_call", RepeatedToolCall),
        ("policies", "ladder", Ladder),
        ("channels", "in_process", InProcess),
    ],
)
def test_finds_what_is_built_in(kind, name, plugin):
    """By its name."""
    assert registry.find(kind, name) is plugin


@pytest.mark.parametrize("kind", registry.KINDS)
def test_finds_all_that_it_lists(kind):
    """What is installed can be found."""
    names = registry.installed(kind)

    assert names
    assert [registry.find(kind, name).name for name in names] == list(names)


def test_finds_what_a_package_offers(offers):
    """The entry point's name is the plug-in's."""
    offers(("detectors", "tempo", "tempfile:TemporaryFile"))

    assert registry.find("detectors", "tempo").__name__
    assert registry.installed("detectors")[-1] == "tempo"


def test_a_built_in_cannot_be_replaced(offers):
    """A package that offers the same name is not asked, and named once."""
    offers(("detectors", "repeated_tool_call", "no_such_package:Anything"))

    assert registry.find("detectors", "repeated_tool_call") is RepeatedToolCall
    assert registry.installed("detectors").count("repeated_tool_call") == 1


@pytest.mark.parametrize("value", ["no_such_package:Anything", "json:NoSuchName"])
def test_a_plugin_that_cannot_be_imported_is_named(offers, value):
    """With where it comes from, and without a foreign error."""
    offers(("detectors", "broken", value))

    with pytest.raises(PluginError, match=rf"detectors: 'broken' from {value} failed"):
        registry.find("detectors", "broken")


@pytest.mark.parametrize("kind", ["detectors", "no_such_kind"])
def test_an_unknown_name_is_refused(kind):
    """The message says what there is."""
    with pytest.raises(PluginError, match=f"no 'typo' in {kind}; built in: "):
        registry.find(kind, "typo")


def test_an_unknown_kind_has_nothing():
    """Nothing installed, no error."""
    assert registry.installed("no_such_kind") == ()
