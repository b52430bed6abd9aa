"""What the API answers about the fleet's health, as its OpenAPI document says it."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from otel_watchdog_collector.health import (
    ConditionType,
    Credential,
    HealingMode,
    Liveness,
    Status,
)

_ISO = "ISO 8601, UTC."


class ConditionBody(BaseModel):
    """One condition of an agent."""

    type: ConditionType
    status: Status
    reason: str = Field(description="One word of a fixed set. Of `Ready`: the agent's liveness.")
    message: str = Field(description="A sentence for people; untrusted text.")
    lastTransitionTime: str = Field(description="When `status` last changed; " + _ISO)  # noqa: N815 - Kubernetes' spelling


class LadderBody(BaseModel):
    """How often an agent was restarted in vain."""

    failures: int = Field(description="Restarts since it was last healthy for long enough.")
    backoff_until: str | None = Field(description="No restart before this; " + _ISO)
    crash_looping: bool = Field(description="Whether restarts were given up.")


class PauseBody(BaseModel):
    """Why an agent is left alone."""

    at: str = Field(description=_ISO)
    trigger: str = Field(description="`watchdog-crashloop`, or `person`.")
    by: str = Field(description="`watchdog`, or the name of the token that asked.")


class HealthBody(BaseModel):
    """An agent's health."""

    id: str
    service: str
    agent: str
    provider: str | None
    state: Liveness | Literal["crash-loop"] = Field(
        description="Its liveness, or `crash-loop` once it was paused for that."
    )
    since: str = Field(description="Since when it is in that state; " + _ISO)
    message: str
    conditions: list[ConditionBody]
    ladder: LadderBody
    shadow: LadderBody = Field(description="What the ladder would be, had healing been allowed.")
    restarting: bool = Field(description="Whether a restart is in work.")
    paused: PauseBody | None
    queued: int | None = Field(description="Work that waits for it; null: unknown.")
    idle_reason: str | None
    cadence_seconds: float | None
    last_seen_at: str | None = Field(description="Last span or heartbeat; " + _ISO)
    last_work_at: str | None = Field(description="Last call that ended well; " + _ISO)


class HealthPage(BaseModel):
    """Agents' health, the latest changed first."""

    items: list[HealthBody]
    next: str | None = Field(description="Pass as `before` for the rows that follow.")


class HealingBody(BaseModel):
    """What may be done to the tenant's agents' processes."""

    mode: HealingMode = Field(description="As it was set.")
    acting: HealingMode = Field(description="As it is now, with every kill switch heeded.")
    paused_by: list[Literal["environment", "file", "api"]] = Field(
        description="Kill switches that are on; they only lower `heal` to `observe`."
    )


def _not_in_disguise(value: object) -> object:
    if isinstance(value, bool | str):
        raise ValueError("must be a whole number")  # noqa: TRY004 - pydantic's way to refuse
    return value


Count: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000_000), BeforeValidator(_not_in_disguise)]
"""A whole number as JSON has it: `3` and `3.0`, but neither `true` nor `"3"`."""


class HealingChange(BaseModel):
    """The mode that is wanted."""

    mode: HealingMode


class KillSwitch(BaseModel):
    """Whether the tenant's kill switch is on."""

    paused: bool = Field(strict=True)


class AgentName(BaseModel):
    """Which agent is meant."""

    agent: str = Field(min_length=1, max_length=1024, description="Its id, `<service>/<agent>`.")


class Done(BaseModel):
    """What became of it."""

    done: bool


class ReportBody(BaseModel):
    """What an orchestrator says of an agent; what it leaves out or sends as null is unknown."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    agent: str = Field(min_length=1, max_length=1024, description="Its id, `<service>/<agent>`.")
    queued: Count | None = None
    idle_reason: str | None = Field(default=None, max_length=200)
    cadence_seconds: float | None = Field(default=None, strict=True, gt=0, le=366 * 86_400)
    credential: Credential | None = None
    started_at: float | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=253_402_300_799,
        description="Seconds since the epoch.",
    )


class IncidentBody(BaseModel):
    """Something that people should know of, once."""

    id: str
    kind: Literal["auth", "provider-outage", "crash-loop", "wedge", "not-producing"]
    severity: Literal["warning", "error"]
    state: Literal["open", "closed"]
    scope: str = Field(description="The provider or service whose agents it is about.")
    fleet_wide: bool = Field(description="Whether most of them are in it together.")
    cause: str = Field(description="What it is, and where to look first.")
    agents: list[str]
    opened_at: str = Field(description=_ISO)
    closed_at: str | None = Field(description=_ISO)


class IncidentPage(BaseModel):
    """Incidents, the latest changed first."""

    items: list[IncidentBody]
    next: str | None


class AuditBody(BaseModel):
    """One entry of the audit."""

    id: str
    time: str = Field(description=_ISO)
    user: str = Field(description="`watchdog`, or the name of the token that asked.")
    action: str
    agent: str | None
    detail: dict[str, Any]


class AuditPage(BaseModel):
    """Entries of the audit, the latest first."""

    items: list[AuditBody]
    next: str | None


class ApprovalBody(BaseModel):
    """What an agent asked a person for."""

    id: str
    state: Literal["asked", "answered", "unanswered"]
    agent: str | None
    session: str | None
    step: str = Field(description="The last step that was told of.")
    scope: str | None
    by: str | None = Field(description="Who answered, as the agent's program says.")
    reason: str
    asked_at: str = Field(description=_ISO)
    at: str = Field(description=_ISO)


class ApprovalPage(BaseModel):
    """Questions to people, the latest changed first."""

    items: list[ApprovalBody]
    next: str | None


class Day(BaseModel):
    """What the watchdog did on one day, UTC."""

    date: str
    count: int
    byAction: dict[str, int]  # noqa: N815 - as the endpoint has always had it


class ActivityAgent(BaseModel):
    """An agent that was judged."""

    name: str
    state: str
    since: str
    message: str
    authenticated: Status
    producing: Status
    paused: bool


class Promotion(BaseModel):
    """Whether what was observed speaks for healing."""

    safe: bool
    reason: str


class Activity(BaseModel):
    """What the watchdog did, or would have done, in the last days."""

    days: int
    since: str
    mode: HealingMode
    acting: bool
    total: int
    taken: int
    observed: int
    byAction: dict[str, int]  # noqa: N815
    daily: list[Day]
    agents: list[ActivityAgent]
    lastAction: str | None  # noqa: N815
    lastActionAt: str | None  # noqa: N815
    promotion: Promotion | None = Field(description="Only while nothing may be done.")
