"""Settings of the service: flags, `OTEL_WATCHDOG_COLLECTOR_*` variables, one YAML file."""

import json
import os
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from otel_watchdog.config import WatchdogConfig
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Mode
from otel_watchdog_collector.fleet_config import FleetConfig

PREFIX: Final = "OTEL_WATCHDOG_COLLECTOR_"
"""Opens the name of every environment variable that is read."""

FILE_VARIABLE: Final = "OTEL_WATCHDOG_COLLECTOR_CONFIG"
"""Names the YAML file, where no flag does."""

_MIB: Final = 1024 * 1024
_HIDDEN: Final = "(hidden)"


class TokenConfig(BaseModel):
    """Who may do what, for which tenant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=64)
    """What logs and metrics call it."""
    token: str | None = Field(default=None, min_length=16, repr=False)
    """The secret itself; better is `sha256`."""
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    """SHA-256 of the secret, in hexadecimal."""
    role: Literal["ingest", "read", "operate", "admin"]
    """`ingest`: send spans and take corrections. `read`: see. `operate`: see and change modes.
    `admin`: everything, the configuration too."""
    tenant: str = Field(default="default", pattern="^[A-Za-z0-9._-]{1,64}$")
    """Whose agents it is about; it never sees another's."""

    @model_validator(mode="after")
    def _has_one_secret(self) -> "TokenConfig":
        if (self.token is None) == (self.sha256 is None):
            raise ValueError("needs either token or sha256")
        return self


class DestinationConfig(BaseModel):
    """Where spans go by OTLP/HTTP, as protobuf."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern="^[A-Za-z0-9._-]{1,64}$")
    endpoint: str = Field(pattern="^https?://")
    """Base address; `/v1/traces` is added."""
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    """Sent with each request; may hold secrets."""
    pass_through: bool = False
    """Whether it gets all that is received, too; else correction spans alone."""
    timeout_seconds: float = Field(default=10.0, gt=0, le=300)


class CollectorConfig(BaseSettings):
    """Settings of one service.

    >>> CollectorConfig().http_port
    4318

    Raises:
        ConfigError: A setting is unknown, of the wrong type or out of range (from `load`).
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid")

    http_host: str = "127.0.0.1"
    """Address for OTLP/HTTP, feedback and the API. Others than loopback need tokens."""
    http_port: int = Field(default=4318, ge=0, le=65_535)
    """0: any free one."""
    grpc_host: str = "127.0.0.1"
    """Address for OTLP/gRPC."""
    grpc_port: int = Field(default=4317, ge=-1, le=65_535)
    """0: any free one; -1: no gRPC."""
    tls_certificate: Path | None = None
    """PEM file; with `tls_key`, both doors speak TLS."""
    tls_key: Path | None = None
    """PEM file."""

    store: str = "sqlite:otel-watchdog.db"
    """`memory:` (nothing outlives the process), `sqlite:<file>` or `postgresql://…`."""
    retention_days: float = Field(default=30.0, gt=0, le=3650)
    """Days after which sessions, runs, corrections and findings are deleted."""
    snapshot_seconds: float = Field(default=60.0, ge=1, le=86_400)
    """Seconds between snapshots, at least; the journal in between is replayed after a crash."""
    history_chars: int = Field(default=2000, ge=0, le=1_000_000)
    """Characters of a text that are kept of what agents do, for pages and previews; secrets are
    taken out. 0: nothing of it is kept."""
    max_journal_bytes: int = Field(default=64 * _MIB, ge=_MIB, le=16 * 1024 * _MIB)
    """Bytes of journal that bring a snapshot forward."""

    mode: Mode = Mode.OBSERVE
    """`off`, `observe`, `feedback` or `enforce`; the API may change it for a tenant."""
    watchdog: dict[str, Any] = Field(default_factory=dict)
    """The library's other settings by name, such as `refractory_turns`; `max_sessions` is per
    tenant and 20000 here unless set."""

    tokens: tuple[TokenConfig, ...] = ()
    """Who may come in; none: anybody on this machine may do everything."""
    workers: int = Field(default=1, ge=1, le=16)
    """Processes that judge sessions; 1: the one that serves does. More are for machines with as
    many cores to spare; each takes some 60 MiB, and the bodies since the last snapshot."""
    max_tenants: int = Field(default=256, ge=1, le=10_000)
    """Tenants with state in memory."""

    max_body_bytes: int = Field(default=16 * _MIB, ge=1024, le=256 * _MIB)
    """Bytes of one request as sent."""
    max_decompressed_bytes: int = Field(default=64 * _MIB, ge=1024, le=1024 * _MIB)
    """Bytes of one request after decompression."""
    max_waiting_bytes: int = Field(default=128 * _MIB, ge=_MIB, le=16 * 1024 * _MIB)
    """Bytes of requests in work at once; more are refused for `retry_after_seconds`."""
    max_attributes: int = Field(default=4096, ge=16, le=100_000)
    """Attributes of one span; one with more is rejected."""
    max_attribute_chars: int = Field(default=_MIB, ge=256, le=64 * _MIB)
    """Characters of one text attribute; a longer one counts as not captured."""
    max_spans_per_second: float = Field(default=0.0, ge=0, le=1e7)
    """Spans a second from one client, over ten seconds; 0: no limit."""
    retry_after_seconds: int = Field(default=1, ge=1, le=5)
    """What refused clients are asked to wait; stock exporters give up after ten seconds in all."""

    expiry_seconds: float = Field(default=600.0, gt=0, le=86_400)
    """Seconds after which a correction that nobody took is not given out any more."""
    max_wait_seconds: float = Field(default=60.0, ge=0, le=600)
    """Seconds that a long poll may wait."""
    keep_alive_seconds: float = Field(default=15.0, ge=1, le=300)
    """Seconds between comments on a silent event stream."""
    max_waiting_agents: int = Field(default=20_000, ge=1, le=200_000)
    """Agents that may wait for feedback at once."""
    heartbeat_seconds: float = Field(default=90.0, ge=1, le=3600)
    """Seconds after its last heartbeat for which an agent counts as alive."""

    fleet: FleetConfig = FleetConfig()
    """Conditions, healing and audit."""

    destinations: tuple[DestinationConfig, ...] = ()
    """Where correction spans go."""
    max_outbox_parcels: int = Field(default=10_000, ge=1, le=10_000_000)
    """Batches that wait for a destination; above that the newest are dropped and counted."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("mode", mode="before")
    @classmethod
    def _mode_from_word(cls, value: object) -> object:
        return WatchdogConfig(mode=value).mode if isinstance(value, str) else value  # type: ignore[arg-type] # its validator reads words

    @field_validator("store")
    @classmethod
    def _known_store(cls, value: str) -> str:
        if value.startswith(("memory:", "sqlite:", "postgresql://", "postgres://")):
            return value
        raise ValueError("must be memory:, sqlite:<file> or postgresql://…")

    @model_validator(mode="after")
    def _fits_together(self) -> "CollectorConfig":
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key are needed together")
        hosts = [self.http_host] + ([self.grpc_host] if self.grpc_port >= 0 else [])
        if not self.tokens and not all(is_loopback(host) for host in hosts):
            raise ValueError("addresses other than loopback need tokens")
        for named in (self.tokens, self.destinations):
            names = [item.name for item in named]
            if len(set(names)) < len(names):
                raise ValueError(f"names must be unique, got {names!r}")
        if self.watchdog.keys() & {"mode"}:
            raise ValueError("mode stands beside watchdog, not in it")
        self.library()
        return self

    def library(self, watchdog: Mapping[str, Any] | None = None) -> WatchdogConfig:
        """Return the library's settings for one tenant.

        Args:
            watchdog: In place of the setting of that name.

        Raises:
            ValueError: One of `watchdog` is wrong.
        """
        own = self.watchdog if watchdog is None else watchdog
        given = {"max_sessions": 20_000, "max_open_spans": 100_000, **own}
        return WatchdogConfig(**given, mode=self.mode)


class Loaded:
    """Settings, and where each came from."""

    def __init__(self, config: CollectorConfig, origins: Mapping[str, str]) -> None:
        self.config = config
        self.origins = origins

    def lines(self) -> list[str]:
        """Return `name: value  # origin` for each setting; secrets are hidden."""
        shown = []
        for name in type(self.config).model_fields:
            value = _shown(name, getattr(self.config, name))
            shown.append(f"{name}: {value}  # {self.origins[name]}")
        return shown


def load(file: Path | str | None = None, flags: Mapping[str, Any] | None = None) -> Loaded:
    """Read settings: flags win over variables, variables over the file.

    Args:
        file: A YAML file; default: what `OTEL_WATCHDOG_COLLECTOR_CONFIG` names, if anything.
        flags: Settings by name.

    Raises:
        ConfigError: The file cannot be read, or a setting is wrong; the message says which.
    """
    flags = dict(flags or {})
    path = file or os.environ.get(FILE_VARIABLE)
    from_file = _read_file(Path(path)) if path else {}
    origins = {}
    for name in CollectorConfig.model_fields:
        variable = f"{PREFIX}{name}".upper()
        if name in flags:
            origins[name] = "flag"
        elif variable in os.environ:
            origins[name] = variable
            from_file.pop(name, None)
        else:
            origins[name] = str(path) if name in from_file else "default"
    try:
        return Loaded(CollectorConfig(**{**from_file, **flags}), origins)
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from None
    except ValueError as error:  # a variable that is no JSON
        raise ConfigError(str(error)) from None


def _read_file(path: Path) -> dict[str, Any]:
    import yaml  # noqa: PLC0415 - a MiB for those who have no file

    try:
        value = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read as YAML settings: {error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: must be a mapping of settings, got {type(value).__name__}")
    return {str(name): item for name, item in value.items()}


def _explain(error: ValidationError, path: Path | str | None) -> str:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    place = f"{path}: " if path else ""
    if first["type"] == "extra_forbidden":
        known = ", ".join(sorted(CollectorConfig.model_fields))
        return f"{place}{name} is no setting; allowed: {known}"
    if not name:
        return f"{place}{first['msg']}"
    got = (
        "" if name.startswith(("tokens", "destinations", "fleet")) else f", got {first['input']!r}"
    )
    return f"{place}{name}: {first['msg'].lower()}{got}"


def is_loopback(host: str) -> bool:
    """Say whether a name or address is this machine's alone: `localhost`, 127.0.0.0/8, `::1`."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(name: str, value: object) -> str:
    if name == "store":
        parts = urlsplit(str(value))
        if parts.password:
            clean = parts.netloc.replace(f":{parts.password}@", f":{_HIDDEN}@")
            return urlunsplit(parts._replace(netloc=clean))
        return str(value)
    if isinstance(value, Mode):
        return value.label
    if isinstance(value, FleetConfig):
        return json.dumps(value.shown())
    if isinstance(value, tuple):
        return "[" + ", ".join(_shown_item(item) for item in value) + "]"
    return "null" if value is None else str(value)


def _shown_item(item: TokenConfig | DestinationConfig) -> str:
    secret = {"token", "sha256", "headers"}
    facts = {
        key: _HIDDEN if key in secret and value else value
        for key, value in item.model_dump().items()
    }
    return "{" + ", ".join(f"{key}: {value}" for key, value in facts.items()) + "}"
