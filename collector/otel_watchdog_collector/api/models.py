"""What the API answers, as its OpenAPI document says it."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field


class Problem(BaseModel):
    """Why a request failed."""

    error: str


class Item(BaseModel):
    """One row."""

    id: str
    at: float = Field(description="When it last changed, in seconds since the epoch.")
    fields: dict[str, Any]


class Page(BaseModel):
    """Rows, the latest changed first."""

    items: list[Item]
    next: str | None = Field(
        description="Pass as `before` for the rows that follow; null at the end."
    )


class Agent(BaseModel):
    """An agent, and whether it lives."""

    id: str
    service: str
    agent: str
    liveness: str = Field(
        description="`alive`: a heartbeat came lately. `silent`: its heartbeats have stopped. "
        "`unknown`: it sends none; nothing can be said."
    )
    last_span_at: float | None
    last_heartbeat_at: float | None
    open_spans: int | None


class Agents(BaseModel):
    """Agents, the latest heard of first."""

    items: list[Agent]
    next: str | None


class ModeWord(StrEnum):
    """What the watchdog may do."""

    OFF = "off"
    OBSERVE = "observe"
    FEEDBACK = "feedback"
    ENFORCE = "enforce"


class ModeBody(BaseModel):
    """A tenant's mode."""

    mode: ModeWord
    paused: bool = Field(default=False, description="Whether OTEL_WATCHDOG_PAUSE lowers it now.")


class ModeChange(BaseModel):
    """The mode that is wanted."""

    mode: ModeWord


class SettingLine(BaseModel):
    """Settings in effect, a line each: `name: value  # origin`."""

    lines: list[str]


class Health(BaseModel):
    """Whether the service lives, or is ready."""

    status: str
