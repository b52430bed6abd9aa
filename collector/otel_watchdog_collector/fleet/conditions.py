"""Authenticated and Producing, and how a condition moves: pure functions of the evidence."""

from typing import NamedTuple

from otel_watchdog_collector.fleet.evidence import Evidence
from otel_watchdog_collector.fleet.liveness import (
    CADENCE_SLACK,
    Moment,
    Verdict,
    cadence_of,
    idle_reason_of,
)
from otel_watchdog_collector.fleet_config import AgentConfig
from otel_watchdog_collector.health import (
    Condition,
    ConditionType,
    Credential,
    Liveness,
    Probe,
    Status,
)


class Answer(NamedTuple):
    """A condition without its time."""

    status: Status
    reason: str
    message: str


def ready(verdict: Verdict) -> Answer:
    """Return whether an agent is ready; the reason is its liveness."""
    liveness = verdict.liveness
    if liveness is Liveness.READY:
        status = Status.TRUE
    elif liveness is Liveness.UNKNOWN:
        status = Status.UNKNOWN
    else:
        status = Status.FALSE
    return Answer(status, liveness.value, verdict.message)


def is_healable(seen: Evidence, liveness: Liveness, probe: Probe | None) -> bool:
    """Say whether a credential that was refused is known to be good again."""
    proven = seen.report.credential is Credential.PRESENT or (probe is not None and probe.ok)
    return liveness is Liveness.AUTH_REQUIRED and bool(proven)


def authenticated(  # noqa: PLR0911 - one for each answer
    seen: Evidence, liveness: Liveness, probe: Probe | None, moment: Moment
) -> Answer:
    """Return whether an agent's model provider takes its credential."""
    if is_healable(seen, liveness, probe):
        said = "calls were refused, but the credential is known to be good"
        return Answer(Status.UNKNOWN, "RefusedWithUsableCredential", said)
    if liveness is Liveness.AUTH_REQUIRED:
        said = f"the last {seen.refused} model calls were refused: {seen.error}"
        return Answer(Status.FALSE, "CredentialRefused", said)
    if seen.report.credential is Credential.ABSENT:
        return Answer(Status.FALSE, "CredentialMissing", "it is reported to have no credential")
    answered = seen.last_answer_at
    if answered is not None and moment.now - answered < moment.config.no_output_seconds:
        return Answer(Status.TRUE, "CallAccepted", "a model call was answered lately")
    if probe is not None and probe.ok is not None:
        status, reason = (Status.TRUE, "ProbeOK") if probe.ok else (Status.FALSE, "ProbeFailed")
        return Answer(status, reason, probe.message)
    if seen.report.credential is Credential.PRESENT:
        return Answer(Status.TRUE, "CredentialPresent", "it is reported to have a credential")
    if probe is not None:
        return Answer(Status.UNKNOWN, "ProbeInconclusive", probe.message)
    return Answer(Status.UNKNOWN, "NoProbe", "nobody has asked its provider")


def producing(  # noqa: PLR0911 - one for each answer
    seen: Evidence, declared: AgentConfig | None, moment: Moment
) -> Answer:
    """Return whether an agent brings forth something, or rightly does not."""
    config = moment.config
    if seen.failed >= config.outage_streak:
        said = f"the last {seen.failed} model calls failed: {seen.error}"
        return Answer(Status.FALSE, "ProviderInferenceError", said)
    worked = seen.last_work_at
    if worked is not None and moment.now - worked < config.no_production_seconds:
        return Answer(Status.TRUE, "RecentProduction", "a call ended well lately")
    idle = idle_reason_of(seen, declared)
    if idle is not None:
        return Answer(Status.TRUE, "IdleNotScheduled", idle)
    if worked is None:
        return Answer(Status.UNKNOWN, "NoEvidence", "no call of it was seen to end well")
    silent = moment.now - max(worked, moment.listening_since)
    cadence = cadence_of(seen, declared)
    if cadence is not None and silent < cadence * (1 + CADENCE_SLACK):
        return Answer(Status.TRUE, "WithinCadence", f"it runs every {cadence / 3600:.3g} h")
    if silent < config.no_production_seconds:
        return Answer(Status.UNKNOWN, "NoEvidence", "the service has not listened for long enough")
    return _by_queue(seen, moment.now - worked)


def _by_queue(seen: Evidence, silent: float) -> Answer:
    if seen.queued is None:
        return Answer(Status.UNKNOWN, "QueueUnknown", "nobody says whether work waits for it")
    if seen.queued < 1:
        return Answer(Status.TRUE, "IdleNoWorkQueued", "no work waits for it")
    said = f"no call of it ended well for {silent / 3600:.1f} h, and {seen.queued} wait"
    return Answer(Status.FALSE, "NoRecentProduction", said)


def moved(before: Condition | None, kind: ConditionType, answer: Answer, now: float) -> Condition:
    """Return the condition that an answer makes: its time moves only with its status."""
    same = before is not None and before.status is answer.status
    return Condition(
        type=kind,
        status=answer.status,
        reason=answer.reason,
        message=answer.message,
        last_transition_at=before.last_transition_at if before is not None and same else now,
    )
