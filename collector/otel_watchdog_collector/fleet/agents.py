"""All that is kept of one agent, and how it outlives the service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_watchdog_collector.fleet.evidence import Evidence
from otel_watchdog_collector.fleet.ladder import Ladder
from otel_watchdog_collector.health import (
    CRASH_LOOP,
    Beat,
    Condition,
    ConditionType,
    Credential,
    Liveness,
    Report,
    Status,
    iso,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Why an agent is left alone."""

    at: float
    trigger: str
    by: str


@dataclass(slots=True, kw_only=True)
class AgentState:
    """One agent: evidence, conditions, ladders."""

    id: str
    service: str
    agent: str
    evidence: Evidence = field(default_factory=Evidence)
    conditions: dict[ConditionType, Condition] = field(default_factory=dict)
    ladder: Ladder = field(default_factory=Ladder)
    """What was done."""
    shadow: Ladder = field(default_factory=Ladder)
    """What would have been done, had it been allowed; counted apart."""
    healthy_since: float | None = None
    swept_at: float | None = None
    kept_at: float = 0.0
    """When it was last handed out to be kept."""
    restarting_since: float | None = None
    is_wedged: bool = False
    paused: Pause | None = None
    liveness: Liveness = Liveness.UNKNOWN
    liveness_since: float = 0.0
    message: str = ""

    @property
    def state(self) -> str:
        """Its liveness, or `crash-loop` once it was paused for that."""
        is_given_up = self.paused is not None and self.paused.trigger == CRASH_LOOP
        return "crash-loop" if is_given_up else self.liveness.value

    def mark(self) -> tuple[object, ...]:
        """Return what must be written again when it changes; messages with ages are not in it."""
        return (
            self.liveness,
            self.healthy_since,
            self.restarting_since,
            self.paused,
            tuple((one.status, one.reason) for one in self.conditions.values()),
            tuple((one.failures, one.crash_looping) for one in (self.ladder, self.shadow)),
        )

    def fields(self) -> dict[str, Any]:
        """Return it as the API shows it, with what is needed to go on after a restart."""
        seen = self.evidence
        paused = self.paused
        since = paused.at if paused is not None and self.state == "crash-loop" else None
        return {
            "service": self.service,
            "agent": self.agent,
            "provider": seen.provider,
            "state": self.state,
            "since": iso(since if since is not None else self.liveness_since),
            "message": self.message,
            "conditions": [self.conditions[kind].as_json() for kind in self.conditions],
            "ladder": _ladder(self.ladder),
            "shadow": _ladder(self.shadow),
            "restarting": self.restarting_since is not None,
            "paused": {**_plain(paused), "at": iso(paused.at)} if paused else None,
            "queued": seen.queued,
            "idle_reason": seen.idle_reason,
            "cadence_seconds": seen.report.cadence_seconds,
            "last_seen_at": _iso(seen.last_seen_at),
            "last_work_at": _iso(seen.last_work_at),
            "kept": self._kept(),
        }

    def _kept(self) -> dict[str, Any]:
        """Return what `thawed` reads; a restart that was in work is not."""
        seen = self.evidence
        return {
            "evidence": {
                **_plain(seen),
                "beat": _plain(seen.beat) if seen.beat is not None else None,
                "report": _plain(seen.report),
            },
            "conditions": [_plain(condition) for condition in self.conditions.values()],
            "ladder": _plain(self.ladder),
            "shadow": _plain(self.shadow),
            "healthy_since": self.healthy_since,
            "swept_at": self.swept_at,
            "paused": _plain(self.paused) if self.paused is not None else None,
            "liveness": self.liveness.value,
            "liveness_since": self.liveness_since,
            "message": self.message,
        }


def thawed(id_: str, fields: Mapping[str, Any], *, may_act: bool) -> AgentState:
    """Return an agent as `fields` described it.

    Args:
        id_: Its id.
        fields: Of its row.
        may_act: Whether healing is allowed; else the ladder begins anew, as it does whenever
            healing ends.

    Raises:
        KeyError, TypeError, ValueError: They were written by another version.
    """
    kept = fields["kept"]
    evidence = dict(kept["evidence"])
    beat, report = evidence.pop("beat"), dict(evidence.pop("report"))
    if report["credential"] is not None:
        report["credential"] = Credential(report["credential"])
    return AgentState(
        id=id_,
        service=fields["service"],
        agent=fields["agent"],
        evidence=Evidence(**evidence, beat=_beat(beat), report=Report(**report)),
        conditions={
            ConditionType(one["type"]): Condition(
                type=ConditionType(one["type"]),
                status=Status(one["status"]),
                reason=one["reason"],
                message=one["message"],
                last_transition_at=one["last_transition_at"],
            )
            for one in kept["conditions"]
        },
        ladder=Ladder(**kept["ladder"]) if may_act else Ladder(),
        shadow=Ladder(**kept["shadow"]),
        healthy_since=kept["healthy_since"],
        swept_at=kept["swept_at"],
        paused=Pause(**kept["paused"]) if kept["paused"] else None,
        liveness=Liveness(kept["liveness"]),
        liveness_since=kept["liveness_since"],
        message=kept["message"],
    )


def _beat(fields: Mapping[str, Any] | None) -> Beat | None:
    if fields is None:
        return None
    lists = {"names": tuple(fields["names"]), "ages": tuple(fields["ages"])}
    return Beat(**{**fields, **lists})


def _plain(fact: Any) -> dict[str, Any]:
    """Return the fields of a dataclass with slots, in a twentieth of the time of `asdict`."""
    return {name: getattr(fact, name) for name in fact.__slots__}


def _ladder(ladder: Ladder) -> dict[str, Any]:
    return {
        "failures": ladder.failures,
        "backoff_until": iso(ladder.backoff_until) if ladder.backoff_until else None,
        "crash_looping": ladder.crash_looping,
    }


def _iso(at: float | None) -> str | None:
    return None if at is None else iso(at)
