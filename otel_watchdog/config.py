"""Settings: from code, `OTEL_WATCHDOG_*` variables and a YAML file, in this order of precedence."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import (
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from otel_watchdog import settings_file
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Mode
from otel_watchdog.rules import AgentRule, Category, Options, Rules, ToolRule
from otel_watchdog.settings_errors import check_written, explain, place

PREFIX: Final = "OTEL_WATCHDOG_"
"""Opens the name of every environment variable that is read."""

FILE_VARIABLE: Final = "OTEL_WATCHDOG_CONFIG"
"""Names a YAML file of settings."""

PAUSE_VARIABLE: Final = "OTEL_WATCHDOG_PAUSE"
"""`1`, `true`, `yes` or `on` lowers feedback and enforce to observe, at once; never raises."""

TierName = Literal["nudge", "redirect", "force-wrap", "hard-stop", "terminate"]

_logger = logging.getLogger(__name__)


class Profile(Enum):
    """A named preset over the same detectors."""

    STANDARD = "standard"
    """Evidence windows restart after each claimed correction."""
    CLASSIC = "classic"
    """The exact rules of the go-steer/core-agent watchdog: one finding a pattern."""
    EAGER = "eager"
    """The numbers of the 5-tier watchdog: few repeats, but nothing before the category's floor."""
    GENTLE = "gentle"
    """The numbers of a watchdog built into a harness: four of all, and no more than two on
    thoughts before the run is stopped."""


_CATEGORIES: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "authorization": (25, ("authz", "authorization", "permission", "role", "acl", "rbac")),
    "login": (6, ("login", "signin", "logon", "authenticate", "oauth", "otp")),
}
"""The floor in profile `eager`, and words in names of tools, by category."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Where settings were read; equal settings are equal wherever that was."""

    file: Path | None = field(default=None, compare=False)
    lines: settings_file.Lines = field(default_factory=dict, compare=False)
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What code gave, which wins over the file whenever it is read."""


class WatchdogConfig(BaseSettings):
    """Settings of one watchdog.

    >>> WatchdogConfig(refractory_turns=3).refractory_turns
    3

    Raises:
        ConfigError: A setting is unknown, of the wrong type or out of range (from `load`).
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        frozen=True,
        extra="forbid",
        env_ignore_empty=True,
        use_attribute_docstrings=True,
    )

    mode: Mode = Mode.FEEDBACK
    """`off`, `observe`, `feedback` or `enforce`; an unknown word means `observe` and is logged."""

    profile: Profile = Profile.STANDARD
    """`standard`, `classic`, `eager` or `gentle`."""

    min_turns: int = Field(default=0, ge=0, le=10_000)
    """Turns of a run before which nothing is corrected; 15 in profile `eager`. Agents of a category
    have its own."""

    max_corrections: int = Field(default=5, ge=0, le=5)
    """Corrections a run, at most."""

    refractory_seconds: float = Field(default=30.0, ge=0, le=86_400, allow_inf_nan=False)
    """Seconds that must pass between a correction and the next."""

    refractory_turns: int = Field(default=2, ge=0, le=1_000)
    """Turns that must pass between a claimed correction and the next."""

    warn_limit: TierName = "force-wrap"
    """The highest tier that a finding of severity warn may reach: `nudge`, `redirect`,
    `force-wrap`, `hard-stop` or `terminate`; the last in profile `eager`."""

    critical_limit: TierName = "terminate"
    """The highest tier that a finding of severity critical may reach; not below `warn_limit`."""

    step_down: bool = True
    """Whether a correction that the agent heeded makes the next one a tier milder; not in profile
    `eager`."""

    skip_ignored: bool = False
    """Whether a correction that the agent ignored makes the next one a tier firmer still."""

    response_turns: int = Field(default=3, ge=1, le=1_000)
    """Turns after a claimed correction in which it is looked for what the agent makes of it."""

    response_calls: int = Field(default=8, ge=1, le=10_000)
    """Calls after it, likewise; whichever comes first."""

    detectors: dict[str, Options | bool] = Field(default_factory=dict)
    """Detectors by name: a mapping of options changes one or adds it, `false` leaves it out, `true`
    adds it as it is. The others are the profile's."""

    policy: str | dict[str, Options] = "ladder"
    """The policy's name, or its name with a mapping of options; `spaced` in profile `gentle`."""

    wait_for_sub_agents: bool = False
    """Whether an agent is left alone while a tool of its own runs another agent; true in profile
    `gentle`."""

    categories: dict[str, Category] = Field(default_factory=dict)
    """Kinds of agents by name: `min_turns`, `agents` (patterns of names) and `tools` (words in
    names of tools). `authorization` and `login` are there, 25 and 6 turns in profile `eager`."""

    tools: dict[str, ToolRule] = Field(default_factory=dict)
    """Rules by pattern of tools' names: `exempt`, `poll`, `loop_key`, `detectors`."""

    agents: dict[str, AgentRule] = Field(default_factory=dict)
    """Rules by pattern of agents' names: `exempt`, `category`, `min_turns`, `detectors`."""

    reload_on_signal: bool = False
    """Whether SIGHUP, too, has the file read again, beside the start of each run."""

    max_sessions: int = Field(default=1024, ge=1, le=1_000_000)
    """Sessions kept in memory; the least recently seen one is dropped first. Read at start."""

    session_ttl_seconds: float = Field(default=3600.0, gt=0, le=2_592_000)
    """Seconds after which a silent session is forgotten. Read at start."""

    max_open_spans: int = Field(default=10_000, ge=16, le=1_000_000)
    """Open spans of agents kept in memory; the oldest is dropped first. Read at start."""

    heartbeat_seconds: float = Field(default=0.0, ge=0, le=300, allow_inf_nan=False)
    """Seconds between heartbeats for a fleet service, log records that tell of open spans; 15 to 30
    is usual, 0: none. They need a logger provider with an exporter. Read at start."""

    redact: bool = True
    """Whether secrets and long values are taken out of what is quoted on spans and in messages."""

    _source: _Source = PrivateAttr(default_factory=_Source)

    @field_validator("*", mode="before")
    @classmethod
    def _no_flag_for_a_number(cls, value: object, info: Any) -> object:
        number = cls.model_fields[info.field_name].annotation in {int, float}
        if number and isinstance(value, bool):
            raise ValueError("must be a number")
        return value

    @field_validator("mode", mode="before")
    @classmethod
    def _mode_from_word(cls, value: object) -> object:
        if value is False:
            return Mode.OFF  # what YAML reads in a bare `off`
        if not isinstance(value, str) and value is not True:
            return value
        try:
            return Mode[str(value).strip().upper()]
        except KeyError:
            words = ", ".join(mode.label for mode in Mode)
            _logger.warning("mode %r is unknown, observing instead; allowed: %s", value, words)
            return Mode.OBSERVE

    @model_validator(mode="before")
    @classmethod
    def _preset(cls, given: Any) -> Any:
        """Put in what the profile sets otherwise."""
        if not isinstance(given, dict):
            return given
        profile = given.get("profile")
        eager = profile in {Profile.EAGER, Profile.EAGER.value}
        preset: dict[str, Any] = {}
        if eager:
            preset = {"min_turns": 15, "step_down": False, "warn_limit": "terminate"}
        elif profile in {Profile.GENTLE, Profile.GENTLE.value}:
            preset = {"policy": "spaced", "wait_for_sub_agents": True}
        categories: dict[str, Any] = {
            name: {"tools": words} | ({"min_turns": floor} if eager else {})
            for name, (floor, words) in _CATEGORIES.items()
        }
        own = given.get("categories")
        if own is None or isinstance(own, dict):
            for name, category in (own or {}).items():
                there = categories.get(name)
                categories[name] = (
                    {**there, **category} if there and isinstance(category, dict) else category
                )
            preset["categories"] = categories
            given = {name: value for name, value in given.items() if name != "categories"}
        return preset | given

    @model_validator(mode="after")
    def _consistent(self) -> "WatchdogConfig":
        order: tuple[str, ...] = TierName.__args__  # type: ignore[attr-defined] # of a Literal
        if order.index(self.critical_limit) < order.index(self.warn_limit):
            raise ValueError(
                f"critical_limit must not be below warn_limit ({self.warn_limit}), "
                f"got {self.critical_limit!r}"
            )
        if isinstance(self.policy, dict) and len(self.policy) != 1:
            raise ValueError(f"policy must name one policy, got {sorted(self.policy)!r}")
        for pattern, rule in self.agents.items():
            if rule.category is not None and rule.category not in self.categories:
                known = settings_file.allowed(rule.category, list(self.categories))
                raise ValueError(f"agents.{pattern}.category: no {rule.category!r}; {known}")
        return self

    @classmethod
    def load(cls, file: Path | str | None = None, **settings: Any) -> "WatchdogConfig":
        """Read settings; those given here win over variables, variables over the file.

        Args:
            file: A YAML file; default: what `OTEL_WATCHDOG_CONFIG` names, if anything.
            **settings: Settings by name.

        Raises:
            ConfigError: The file cannot be read, or a setting is unknown, of the wrong type or
                out of range.
        """
        path = file or os.environ.get(FILE_VARIABLE)
        from_file, lines = settings_file.read(Path(path)) if path else ({}, {})
        variables = {name.upper() for name, value in os.environ.items() if value}
        from_file = {
            name: value
            for name, value in from_file.items()
            if f"{PREFIX}{name}".upper() not in variables
        }
        for name, value in from_file.items():
            check_written(name, value, cls.model_fields, place(path, lines, (name,)))
        try:
            config = cls(**{**from_file, **settings})
        except ValidationError as error:
            known, in_file = cls.model_fields, {*from_file} - {*settings}
            raise ConfigError(explain(error, known, path, lines, in_file)) from None
        config._source = _Source(Path(path) if path else None, lines, settings)
        return config

    @property
    def file(self) -> Path | None:
        """The file that was read; `None` if none was."""
        return self._source.file

    def reloaded(self) -> "WatchdogConfig":
        """Return the settings as they are now, from where these came from.

        Raises:
            ConfigError: As from `load`.
        """
        return type(self).load(self._source.file, **self._source.given)

    def place(self, *at: str) -> str:
        """Return where in the file a setting stands, to open an error with; "" if in none."""
        return place(self._source.file, self._source.lines, at)

    def rules(self) -> Rules:
        """Return the rules for tools, agents and categories."""
        return Rules(self.tools, self.agents, self.categories, self.min_turns)


def is_paused() -> bool:
    """Say whether `OTEL_WATCHDOG_PAUSE` is set; read anew at every decision."""
    return os.environ.get(PAUSE_VARIABLE, "").strip().lower() in {"1", "true", "yes", "on"}
