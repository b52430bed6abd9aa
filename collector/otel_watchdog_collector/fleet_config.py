"""Settings of conditions, healing and audit: what stands under `fleet` in the service's own."""

import base64
import logging
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from otel_watchdog_collector.health import HealingMode

_logger = logging.getLogger(__name__)

_DAY: Final = 86_400
_SECRET_CHARS: Final = 16


class ActionConfig(BaseModel):
    """How an agent is restarted, paused and resumed: by a command or by a webhook."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: tuple[str, ...] = ()
    """Program and arguments, run without a shell. What is asked for stands in the variables
    `OTEL_WATCHDOG_ACTION` (`restart`, `pause`, `resume`), `OTEL_WATCHDOG_AGENT`,
    `OTEL_WATCHDOG_SERVICE` and `OTEL_WATCHDOG_REASON`. Exit code 0: done."""
    webhook: str | None = Field(default=None, pattern="^https?://")
    """Address that gets the same as JSON, signed as Standard Webhooks are. Any 2xx: done."""
    secret: str | None = Field(default=None, min_length=_SECRET_CHARS, repr=False)
    """Key of the signature (HMAC-SHA256): any text, or `whsec_` and a key in base64."""
    timeout_seconds: float = Field(default=90.0, gt=0, le=3600)
    """Seconds after which a command is killed, or a webhook given up, and an incident opened."""

    @model_validator(mode="after")
    def _is_one_way(self) -> Self:
        if bool(self.command) == (self.webhook is not None):
            raise ValueError("needs either command or webhook")
        if self.webhook is not None and self.secret is None:
            raise ValueError("webhook needs secret")
        if self.secret is not None and self.secret.startswith("whsec_"):
            try:
                base64.b64decode(self.secret.removeprefix("whsec_"), validate=True)
            except ValueError:
                raise ValueError("what follows whsec_ in secret must be base64") from None
        return self


class ProbeConfig(BaseModel):
    """How a provider is asked whether it takes the fleet's credential: once a sweep, for all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(pattern="^https?://")
    """Asked with GET. 2xx: it does. 401 and 403: it does not. Anything else: cannot be told."""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    """Sent along; hold the credential."""
    timeout_seconds: float = Field(default=10.0, gt=0, le=60)


class AgentConfig(BaseModel):
    """What is declared of agents whose ids match a pattern."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: str = Field(min_length=1, max_length=256)
    """Pattern of ids, `<service>/<agent>`, with `*` and `?`; the first that matches counts."""
    tenant: str | None = Field(default=None, max_length=64)
    """Whose; `None`: any tenant's."""
    expected: bool = False
    """Whether it must be there: silent for long, it is dead even if it never sent a heartbeat. One
    whose pattern is a plain id is known before it is heard of."""
    provider: str | None = Field(default=None, max_length=64)
    """Of its models, where its spans do not say."""
    cadence_seconds: float | None = Field(default=None, gt=0, le=366 * _DAY)
    """Seconds between its runs, as planned: daily is 86400. `None`: it runs all the time."""
    idle_reason: str | None = Field(default=None, max_length=200)
    """Why it rightly does nothing at present."""
    action: ActionConfig | None = None
    """Default: the fleet's."""
    heal: bool = True
    """Whether it may be restarted and paused at all."""


class FleetConfig(BaseModel):
    """Settings of the fleet's health.

    >>> FleetConfig().mode
    <HealingMode.OBSERVE: 'observe'>
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: HealingMode = HealingMode.OBSERVE
    """`off`, `observe` or `heal`; an unknown word means `observe` and is logged. The API may change
    it for a tenant."""
    pause_file: Path | None = None
    """While it exists, `heal` is lowered to `observe` and no correction is handed out."""
    sweep_seconds: float = Field(default=30.0, ge=1, le=3600)
    """Seconds between two looks at all agents."""

    boot_grace_seconds: float = Field(default=60.0, ge=0, le=3600)
    """Seconds after an agent's start in which nothing is held against it."""
    silent_seconds: float = Field(default=300.0, ge=30, le=_DAY)
    """Seconds without heartbeat and span after which one that sends heartbeats is `no-session`."""
    no_output_seconds: float = Field(default=300.0, ge=10, le=_DAY)
    """Seconds without a beginning or end of a span in an open run that make it `no-output`."""
    shell_prompt_seconds: float = Field(default=300.0, ge=10, le=_DAY)
    """Seconds that work may wait while no run is open."""
    stuck_overlay_seconds: float = Field(default=600.0, ge=10, le=_DAY)
    """Seconds that a span may wait for a person."""
    login_streak: int = Field(default=3, ge=1, le=100)
    """Model calls in a row refused for their credential that count."""
    outage_streak: int = Field(default=3, ge=1, le=100)
    """Model calls in a row that failed at the provider that count."""
    long_tools: tuple[str, ...] = ()
    """Patterns of names of spans that may be open for long: a build, a crawl."""
    human_tools: tuple[str, ...] = (
        "*approv*",
        "*elicit*",
        "*ask_user*",
        "*ask_human*",
        "*confirm*",
    )
    """Patterns of names of spans that wait for a person."""

    backoff_seconds: tuple[float, ...] = (60.0, 120.0, 240.0, 480.0, 960.0)
    """Seconds that a restart has to prove itself before the next; the last goes on."""
    crash_loop_after: int = Field(default=5, ge=1, le=100)
    """Restarts in vain after which an agent is paused, until a person resumes it."""
    healthy_reset_seconds: float = Field(default=1800.0, ge=1, le=30 * _DAY)
    """Seconds of unbroken health after which earlier restarts are forgotten."""
    max_restarts_at_once: int = Field(default=4, ge=1, le=1000)
    """Restarts that a tenant's fleet may have in work; the others wait for a later look."""

    no_production_seconds: float = Field(default=21_600.0, ge=60, le=366 * _DAY)
    """Seconds without a finished call, while work waits, that make `Producing` false; one and a
    quarter of its cadence, where that is more."""

    correlation_share: float = Field(default=0.5, gt=0, le=1)
    """Share of the agents of one provider or service that makes it the fleet's incident."""
    correlation_agents: int = Field(default=3, ge=2, le=10_000)
    """Agents that it takes for that, at least."""
    correlation_seconds: float = Field(default=600.0, ge=1, le=_DAY)
    """Seconds within which they must follow each other."""

    agents: tuple[AgentConfig, ...] = ()
    """What is declared of agents."""
    action: ActionConfig | None = None
    """How agents are restarted; `None`: `heal` can do no more than `observe`."""
    probes: dict[str, ProbeConfig] = Field(default_factory=dict)
    """By provider's name."""

    audit_file: Path | None = None
    """JSON lines; default: beside a SQLite store, `<store>.audit.jsonl`, and none with others."""
    audit_days: float = Field(default=90.0, gt=0, le=3650)
    """Days for which the audit is kept."""
    max_audit_bytes: int = Field(default=16 * 1024 * 1024, ge=4096, le=1 << 34)
    """Bytes after which a new audit file is begun."""

    @field_validator("mode", mode="before")
    @classmethod
    def _mode_from_word(cls, value: object) -> object:
        if value is False:
            return HealingMode.OFF  # what YAML reads in a bare `off`
        if isinstance(value, HealingMode):
            return value
        word = str(value).strip().lower()
        if word in {mode.value for mode in HealingMode}:
            return HealingMode(word)
        words = ", ".join(mode.value for mode in HealingMode)
        _logger.warning("fleet.mode %r is unknown, observing instead; allowed: %s", value, words)
        return HealingMode.OBSERVE

    @field_validator("backoff_seconds")
    @classmethod
    def _is_ladder(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not value or not all(0 < step <= _DAY for step in value) or list(value) != sorted(value):
            raise ValueError("must be growing seconds, each above 0 and at most a day")
        return value

    def of(self, tenant: str) -> Self:
        """Return the settings as they are for one tenant."""
        own = tuple(one for one in self.agents if one.tenant in {None, tenant})
        return self.model_copy(update={"agents": own})

    def declared(self, agent: str) -> AgentConfig | None:
        """Return what is declared of an agent, by its id."""
        return next((one for one in self.agents if fnmatchcase(agent, one.match)), None)

    def action_for(self, agent: str) -> ActionConfig | None:
        """Return how an agent is acted on, by its id; `None`: not at all."""
        declared = self.declared(agent)
        if declared is None:
            return self.action
        return (declared.action or self.action) if declared.heal else None

    def shown(self) -> dict[str, Any]:
        """Return all settings as plain values, secrets hidden."""
        shown: dict[str, Any] = _hidden(self.model_dump(mode="json"))
        return shown


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: "(hidden)" if name in {"secret", "headers"} and inner else _hidden(inner)
            for name, inner in value.items()
        }
    return [_hidden(one) for one in value] if isinstance(value, list) else value
