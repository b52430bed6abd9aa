"""What the service believes of an agent's health, in the words of its API.

Times are seconds since the epoch here, and ISO 8601 in UTC wherever they leave the service.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

USER: Final = "watchdog"
"""Who acts in the audit, where no person does."""

CRASH_LOOP: Final = "watchdog-crashloop"
"""What paused an agent that was restarted in vain."""


class Status(StrEnum):
    """Whether a condition holds; `Unknown` is an answer, and never a healthy one."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class ConditionType(StrEnum):
    """What is asked of each agent, as Kubernetes asks it of its nodes."""

    READY = "Ready"
    """It lives and can work. The reason is its `Liveness`."""
    AUTHENTICATED = "Authenticated"
    """Its model provider takes its credential."""
    PRODUCING = "Producing"
    """It brings forth something, or rightly does not."""


class Liveness(StrEnum):
    """What the evidence says of an agent's process."""

    READY = "ready"
    NO_SESSION = "no-session"
    """No heartbeat and no span of one that sent heartbeats or is expected."""
    SHELL_PROMPT = "shell-prompt"
    """It lives, no run is open, and work waits."""
    NO_OUTPUT = "no-output"
    """A run is open in which nothing begins or ends."""
    STUCK_OVERLAY = "stuck-overlay"
    """A span waits for a person, and nobody came."""
    AUTH_REQUIRED = "auth-required"
    """Its credential was refused several times in a row. Not dead: a restart cannot help."""
    UNKNOWN = "unknown"
    """Anything else, and the first minute after a start."""

    @property
    def is_dead(self) -> bool:
        """Whether a restart may help."""
        return self in _DEAD


_DEAD: Final = frozenset(
    {Liveness.NO_SESSION, Liveness.SHELL_PROMPT, Liveness.NO_OUTPUT, Liveness.STUCK_OVERLAY}
)


class HealingMode(StrEnum):
    """What the watchdog may do to agents' processes."""

    OFF = "off"
    """Nothing is judged."""
    OBSERVE = "observe"
    """Conditions and incidents; what healing would have done is written down, nothing is done."""
    HEAL = "heal"
    """Restarts and pauses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One answer about one agent."""

    type: ConditionType
    status: Status
    reason: str
    """One word of a fixed set, for programs."""
    message: str
    """A sentence for people; may quote what a provider said, redacted."""
    last_transition_at: float
    """When `status` last changed; reason and message change in place."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {
            "type": self.type.value,
            "status": self.status.value,
            "reason": self.reason,
            "message": self.message,
            "lastTransitionTime": iso(self.last_transition_at),
        }


class SignKind(StrEnum):
    """What was seen of an agent."""

    ANSWER = "answer"
    """A model call of it ended well."""
    WORK = "work"
    """A tool call of it ended well."""
    ACTIVITY = "activity"
    """Any other span of it ended."""
    REFUSED = "refused"
    """A model call failed for its credential."""
    FAILED = "failed"
    """A model call failed at the provider."""
    HEARTBEAT = "heartbeat"


class Sign(NamedTuple):
    """Evidence of one agent, read of a span or a heartbeat."""

    service: str
    agent: str | None
    """Its name; `None`: it goes by its service's."""
    kind: SignKind
    provider: str | None = None
    """Of the model, where the span says."""
    text: str = ""
    """What the provider said; untrusted."""
    beat: "Beat | None" = None

    @property
    def id(self) -> str:
        """The agent's id: as in the list of agents.

        >>> Sign("shop", "fixer", SignKind.WORK).id, Sign("shop", None, SignKind.WORK).id
        ('shop/fixer', 'shop/shop')
        """
        return agent_id(self.service, self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """What a heartbeat tells."""

    open_spans: int | None = None
    """Spans of the agent that are open; `None`: it does not say."""
    oldest_open_seconds: float | None = None
    idle_seconds: float | None = None
    """Since one of its spans last began or ended."""
    names: tuple[str, ...] = ()
    """Of open spans, the newest last; not all, if there are many."""
    ages: tuple[float, ...] = ()
    """Seconds for which each of `names` has been open."""
    queued: int | None = None
    """Work that waits for it."""
    idle_reason: str | None = None
    """Why it rightly does nothing; `None`: it does not say."""
    uptime_seconds: float | None = None
    """Since its process was launched."""
    stopping: bool = False
    """Whether it is the last: the process ends as it should."""


class Credential(StrEnum):
    """What is known of an agent's credential from elsewhere than its spans."""

    PRESENT = "present"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an orchestrator says of an agent; `None`: nothing."""

    queued: int | None = None
    """Work that waits for it."""
    idle_reason: str | None = None
    """Why it rightly does nothing: paused by its schedule, nothing to decide."""
    cadence_seconds: float | None = None
    """Seconds between its runs, as declared; never inferred."""
    credential: Credential | None = None
    started_at: float | None = None
    """When its process was last launched."""


class Probe(NamedTuple):
    """What asking a provider with the fleet's credential gave."""

    ok: bool | None
    """`None`: it cannot be told."""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Something that was done, would have been done, changed or was allowed. Never a sweep."""

    id: str
    """Unique in the tenant."""
    tenant: str
    at: float
    action: str
    """Of the watchdog: `watchdog-restart`, `watchdog-crashloop-pause`, `watchdog-giveup`,
    `watchdog-healthy-reset`, each with the suffix `-observed` where it was not done; what changed:
    `condition-changed`, `incident-opened`, `incident-closed`; of people: `healing-mode`, `mode`,
    `kill-switch`, `resume`, `pause`, `approval`."""
    user: str = USER
    """`watchdog`, or the name of the token that asked."""
    agent: str | None = None
    detail: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    """Reasons and counts; never what an agent or tool said."""

    def as_json(self) -> dict[str, Any]:
        """Return it as a line of the audit file has it."""
        return {
            "id": self.id,
            "time": iso(self.at),
            "tenant": self.tenant,
            "user": self.user,
            "action": self.action,
            "agent": self.agent,
            "detail": dict(self.detail),
        }


def agent_id(service: str, agent: str | None) -> str:
    """Return what an agent is known by."""
    return f"{service}/{agent or service}"


def iso(at: float) -> str:
    """Return a time in ISO 8601, UTC, to the millisecond.

    >>> iso(1_790_000_000.25)
    '2026-09-21T14:13:20.250Z'
    """
    text = datetime.fromtimestamp(at, tz=UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
