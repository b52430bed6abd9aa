"""What passes between the service's parts: entries of the journal, and rows to be kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from otel_watchdog.model import Correction


class Kind(Enum):
    """What an entry of the journal says."""

    TRACES_PROTOBUF = "traces+protobuf"
    TRACES_JSON = "traces+json"
    LOGS_PROTOBUF = "logs+protobuf"
    LOGS_JSON = "logs+json"
    LEASE = "lease"
    """Body: ids of corrections, a line each, that go out with their agent's next model call."""
    CLAIM = "claim"
    """Body: ids of corrections, a line each, with which a model call has gone out."""
    MODE = "mode"
    """Body: the mode's word."""

    @property
    def is_otlp(self) -> bool:
        """Whether the body is an OTLP request."""
        return self.is_traces or self in {Kind.LOGS_PROTOBUF, Kind.LOGS_JSON}

    @property
    def is_traces(self) -> bool:
        """Whether the body is an OTLP trace request."""
        return self in {Kind.TRACES_PROTOBUF, Kind.TRACES_JSON}

    @property
    def is_json(self) -> bool:
        """Whether the body is OTLP/JSON."""
        return self in {Kind.TRACES_JSON, Kind.LOGS_JSON}


class Entry(NamedTuple):
    """One thing that changed what the service knows; its journal is a list of them, in order."""

    kind: Kind
    tenant: str
    at: float
    """When it came, in seconds since the epoch."""
    body: bytes
    gzipped: bool = False
    """Whether the body is as it was sent, compressed with gzip."""


class Table(Enum):
    """What rows are kept of."""

    AGENTS = "agents"
    SESSIONS = "sessions"
    RUNS = "runs"
    CORRECTIONS = "corrections"
    FINDINGS = "findings"
    OBSERVATIONS = "observations"
    """What sessions did: rows of many observations each, in order of their `first`."""
    CONDITIONS = "conditions"
    """Of each agent, by its id: its conditions and what healing knows of it."""
    INCIDENTS = "incidents"
    AUDIT = "audit"
    FLEET = "fleet"
    """What people have set for a tenant's fleet, by name."""
    APPROVALS = "approvals"
    """What agents asked people for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row to be kept; one with the same table, tenant and id is replaced."""

    table: Table
    tenant: str
    id: str
    at: float
    """When it last changed, in seconds since the epoch; retention goes by it."""
    fields: Mapping[str, Any]
    """What else there is to say, as JSON would: by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A body on its way to a destination."""

    destination: str
    """Its name in the settings."""
    id: str
    """Unique at the destination: a parcel that is put in again is not sent again."""
    path: str
    """`/v1/traces` or `/v1/logs`."""
    content_type: str
    body: bytes
    gzipped: bool = False


class Snapshot(NamedTuple):
    """The state of everything after an entry of the journal."""

    seq: int
    """Number of the last entry that is in it."""
    body: bytes


@dataclass(slots=True, kw_only=True)
class Letter:
    """A correction on its way to its agent."""

    seq: int
    """Its number in the tenant's mail, from 1; the id of its event on a stream."""
    id: str
    """What the agent knows it by: the same after a restart."""
    correction: Correction
    """As the engine knows it."""
    names: tuple[str, ...]
    """What its agent may ask by: key of the session, id of the conversation or trace."""
    sent_at: float
    """When it was made, in seconds since the epoch."""
    leased: bool = False
    """Whether an agent said that it goes out with its next model call."""

    def is_for(self, agent: str | None) -> bool:
        """Say whether it is for an agent of this name; `None`: whoever asks."""
        return agent is None or self.correction.agent in {None, agent}
