"""Makes detectors and policy as the settings say: by name, with options that are checked."""

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, cast

from otel_watchdog import profiles, registry
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.detectors import Detector
from otel_watchdog.errors import ConfigError, PluginError
from otel_watchdog.model import Finding, Observation, ToolCall, ToolResult
from otel_watchdog.policies import Policy
from otel_watchdog.progress import Progress
from otel_watchdog.rules import Options, first
from otel_watchdog.settings_file import allowed

_SHARED: Final = (
    "max_corrections",
    "refractory_seconds",
    "refractory_turns",
    "warn_limit",
    "critical_limit",
    "step_down",
    "skip_ignored",
)
"""Settings that are given to a policy which has an option of this name."""


class ForTools:
    """A detector that speaks of some tools alone, or of all others.

    It is shown everything, so that its evidence is whole.

    Args:
        inner: The detector.
        patterns: Of the tools' names.
        others: Whether it speaks of all tools but these.
    """

    def __init__(self, inner: Detector, patterns: Sequence[str], *, others: bool) -> None:
        self._inner = inner
        self._patterns = dict.fromkeys(patterns, True)
        self._others = others
        self.name = inner.name
        self.watches = inner.watches
        self.needs = inner.needs

    @classmethod
    def around(cls, inner: Detector, patterns: Sequence[str], *, others: bool) -> Detector:
        """Return one; its name and the like are the inner one's, not the class's."""
        return cast("Detector", cls(inner, patterns, others=others))

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        finding = self._inner.observe(observation, progress)
        if finding is None:
            return None
        tool = observation.name if isinstance(observation, ToolCall | ToolResult) else ""
        is_one = first(self._patterns, tool) is not None
        return None if is_one is self._others else finding

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._inner.restart()


class _Made(NamedTuple):
    """A detector of the profile or the settings, before it is made."""

    make: Callable[..., Detector]
    options: Options
    at: tuple[str, ...]
    """Where in the settings its options stand."""


def detectors_of(config: WatchdogConfig, *, agents: str | None = None) -> tuple[Detector, ...]:
    """Return the detectors that settings ask for, made anew.

    Args:
        config: The settings.
        agents: A pattern of `config.agents` whose own options hold, too.

    Raises:
        ConfigError: A detector or option does not exist, or a value is wrong.
    """
    sections: list[tuple[tuple[str, ...], Mapping[str, Options | bool]]] = [
        (("detectors",), config.detectors)
    ]
    if agents is not None:
        sections.append((("agents", agents, "detectors"), config.agents[agents].detectors))
    chosen = _chosen(config, sections)
    by_tool: dict[str, dict[str, Options | bool]] = {}
    for pattern, rule in config.tools.items():
        for name, own in rule.detectors.items():
            by_tool.setdefault(name, {})[pattern] = own
            if name not in {made.make.name for made in chosen}:  # type: ignore[attr-defined] # a plug-in's class
                _find(config, "detectors", name, ("tools", pattern, "detectors", name))
    detectors: list[Detector] = []
    for made in chosen:
        general = _make(config, made.make, made.options, made.at)
        special = by_tool.get(general.name, {})
        if not special:
            detectors.append(general)
            continue
        detectors.append(ForTools.around(general, tuple(special), others=True))
        for pattern, own in special.items():
            if own is not False:
                options = made.options | (own if isinstance(own, dict) else {})
                at = ("tools", pattern, "detectors", general.name)
                one = _make(config, made.make, options, at)
                detectors.append(ForTools.around(one, (pattern,), others=False))
    return tuple(detectors)


def options_of(config: WatchdogConfig) -> dict[str, Options]:
    """Return the options of the detectors that settings ask for, by name, defaults included.

    Raises:
        ConfigError: A detector does not exist.
    """
    found: dict[str, Options] = {}
    for made in _chosen(config, [(("detectors",), config.detectors)]):
        known = inspect.signature(made.make).parameters.values()
        defaults = {one.name: one.default for one in known if one.default is not one.empty}
        found[made.make.name] = defaults | made.options  # type: ignore[attr-defined] # a plug-in's class
    return found


def policy_of(config: WatchdogConfig) -> Policy:
    """Return the policy that settings ask for, made anew.

    Raises:
        ConfigError: The policy or an option does not exist, or a value is wrong.
    """
    if isinstance(config.policy, str):
        name, own = config.policy, Options()
    else:
        name, own = next(iter(config.policy.items()))
    found = _find(config, "policies", name, ("policy", name))
    known = inspect.signature(found).parameters
    given = {one: getattr(config, one) for one in _SHARED if one in known}
    made: Policy = _make(config, found, given | own, ("policy", name))
    return made


def _chosen(
    config: WatchdogConfig,
    sections: Sequence[tuple[tuple[str, ...], Mapping[str, Options | bool]]],
) -> list[_Made]:
    """Return the profile's detectors with what the settings change, then what they add."""
    chosen: list[_Made] = []
    for make in profiles.DETECTORS[config.profile]:
        if isinstance(make, partial):
            chosen.append(_Made(make.func, dict(make.keywords), ()))
        else:
            chosen.append(_Made(make, {}, ()))
    for at, section in sections:
        for name, own in section.items():
            cls = _find(config, "detectors", name, (*at, name))
            there = [index for index, made in enumerate(chosen) if made.make is cls]
            options = own if isinstance(own, dict) else {}
            if own is False:
                chosen = [made for made in chosen if made.make is not cls]
            elif not there:
                chosen.append(_Made(cls, options, (*at, name)))
            for index in there if own is not False else ():
                made = chosen[index]
                chosen[index] = _Made(cls, made.options | options, (*at, name))
    return chosen


def _find(config: WatchdogConfig, kind: str, name: str, at: Sequence[str]) -> Any:
    try:
        return registry.find(kind, name)
    except PluginError as error:
        known = registry.installed(kind)
        said = f"{'.'.join(at)}: no {name!r}; {allowed(name, known)}"
        raise ConfigError(f"{config.place(*at)}{said if name not in known else error}") from None


def _make(config: WatchdogConfig, cls: Any, options: Options, at: tuple[str, ...]) -> Any:
    """Make a plug-in; what its options are is read off its constructor."""
    known = inspect.signature(cls).parameters
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    hints = typing.get_type_hints(cls.__init__)
    for name, value in options.items():
        place, setting = config.place(*at, name), ".".join((*at, name))
        if name not in known and not takes_any:
            raise ConfigError(f"{place}{setting} is no option; {allowed(name, [*known])}")
        kind = hints.get(name, Any)
        if not _fits(value, kind):
            raise ConfigError(f"{place}{setting} must be {_said(kind)}, got {value!r}")
    try:
        return cls(**{name: _shaped(value) for name, value in options.items()})
    except ConfigError as error:
        raise ConfigError(f"{config.place(*at)}{error}") from None


def _fits(value: object, kind: Any) -> bool:
    """Say whether a value is of a kind; true and false are no numbers."""
    if kind is Any:
        return True
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return any(_fits(value, one) for one in typing.get_args(kind))
    if kind in {int, float}:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (kind is float and isinstance(value, float))
    if kind in {bool, str, type(None)}:
        return isinstance(value, kind)
    if typing.get_origin(kind) in {tuple, list, frozenset, Sequence}:
        return isinstance(value, list | tuple | set | frozenset)
    return True


def _said(kind: Any) -> str:
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
    if isinstance(kind, types.UnionType):
        return " or ".join(_said(one) for one in typing.get_args(kind))
    return words.get(kind, "nothing" if kind is type(None) else "a list")


def _shaped(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
