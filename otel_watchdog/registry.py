"""Finds plug-ins by kind and name: the built-ins, then installed packages' entry points."""

from collections.abc import Iterable
from importlib.metadata import entry_points
from typing import Any, Final

from otel_watchdog import channels, detectors, dialects, judges, policies
from otel_watchdog.errors import PluginError

BUILT_IN: Final[dict[str, tuple[type[Any], ...]]] = {
    "detectors": detectors.BUILT_IN,
    "dialects": dialects.BUILT_IN,
    "policies": policies.BUILT_IN,
    "channels": channels.BUILT_IN,
    "judges": judges.BUILT_IN,
}
"""The plug-ins that come with the library, by kind."""


def find(kind: str, name: str) -> type[Any]:
    """Return the plug-in class of `kind` that is called `name`.

    Args:
        kind: `detectors`, `dialects`, `policies`, `channels` or `judges`; entry points stand in
            the group `otel_watchdog.<kind>`.
        name: The plug-in's `name`.

    Raises:
        PluginError: No built-in or installed package offers it, or it could not be imported.
    """
    for built_in in BUILT_IN.get(kind, ()):
        if built_in.name == name:
            return built_in
    for found in entry_points(group=f"otel_watchdog.{kind}", name=name):
        try:
            loaded: type[Any] = found.load()
        except Exception as error:
            raise PluginError(f"{kind}: {name!r} from {found.value} failed: {error}") from error
        return loaded
    raise PluginError(f"no {name!r} in {kind}; built in: {_names(BUILT_IN.get(kind, ()))}")


def installed(kind: str) -> tuple[str, ...]:
    """Return the names of the plug-ins of `kind`, built-ins first."""
    names = [plugin.name for plugin in BUILT_IN.get(kind, ())]
    names += sorted(point.name for point in entry_points(group=f"otel_watchdog.{kind}"))
    return tuple(dict.fromkeys(names))


def _names(plugins: Iterable[type[Any]]) -> str:
    return ", ".join(sorted(plugin.name for plugin in plugins))
