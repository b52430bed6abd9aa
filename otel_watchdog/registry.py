"""Finds plug-ins by kind and name: the built-ins, then installed packages' entry points."""

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final

from otel_watchdog.errors import PluginError

KINDS: Final = ("detectors", "dialects", "policies", "channels", "judges")
"""Kinds of plug-ins; those that come with the library are the `BUILT_IN` of the package so called,
which is imported when one of its kind is asked for."""


def built_in(kind: str) -> tuple[type[Any], ...]:
    """Return the plug-ins of `kind` that come with the library."""
    found: tuple[type[Any], ...] = ()
    if kind in KINDS:
        found = import_module(f"otel_watchdog.{kind}").BUILT_IN
    return found


def find(kind: str, name: str) -> type[Any]:
    """Return the plug-in class of `kind` that is called `name`.

    Args:
        kind: `detectors`, `dialects`, `policies`, `channels` or `judges`; entry points stand in
            the group `otel_watchdog.<kind>`.
        name: The plug-in's `name`.

    Raises:
        PluginError: No built-in or installed package offers it, or it could not be imported.
    """
    for plugin in built_in(kind):
        if plugin.name == name:
            return plugin
    for found in entry_points(group=f"otel_watchdog.{kind}", name=name):
        try:
            loaded: type[Any] = found.load()
        except Exception as error:
            raise PluginError(f"{kind}: {name!r} from {found.value} failed: {error}") from error
        return loaded
    raise PluginError(f"no {name!r} in {kind}; built in: {_names(built_in(kind))}")


def installed(kind: str) -> tuple[str, ...]:
    """Return the names of the plug-ins of `kind`, built-ins first."""
    names = [plugin.name for plugin in built_in(kind)]
    names += sorted(point.name for point in entry_points(group=f"otel_watchdog.{kind}"))
    return tuple(dict.fromkeys(names))


def _names(plugins: Iterable[type[Any]]) -> str:
    return ", ".join(sorted(plugin.name for plugin in plugins))
