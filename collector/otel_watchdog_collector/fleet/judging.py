"""One look at one agent: its conditions, its health, and who must know."""

from otel_watchdog_collector.fleet import conditions
from otel_watchdog_collector.fleet.agents import AgentState
from otel_watchdog_collector.fleet.alarms import Alarms
from otel_watchdog_collector.fleet.healer import Healer
from otel_watchdog_collector.fleet.liveness import Moment, classify
from otel_watchdog_collector.fleet.scribe import Scribe
from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import ConditionType, Probe, Status


class Judge:
    """Judges the agents of one fleet.

    Args:
        config: Settings.
        scribe: The fleet's.
        alarms: The fleet's.
        healer: The fleet's.
    """

    def __init__(self, config: FleetConfig, scribe: Scribe, alarms: Alarms, healer: Healer) -> None:
        self._config = config
        self._scribe = scribe
        self._alarms = alarms
        self._healer = healer

    def judge(self, state: AgentState, moment: Moment, probe: Probe | None, gap: float) -> None:
        """Bring an agent's conditions up to date.

        Args:
            state: It.
            moment: When.
            probe: What its provider answered, if it was asked.
            gap: Seconds without a look after which what was between counts as not seen.
        """
        now, seen = moment.now, state.evidence
        if state.swept_at is None or now - state.swept_at > gap:
            state.healthy_since = None  # nobody looked: that is no health
        declared = self._config.declared(state.id)
        verdict = classify(seen, declared, moment)
        answers = {
            ConditionType.READY: conditions.ready(verdict),
            ConditionType.AUTHENTICATED: conditions.authenticated(
                seen, verdict.liveness, probe, moment
            ),
            ConditionType.PRODUCING: conditions.producing(seen, declared, moment),
        }
        if verdict.liveness is not state.liveness or state.swept_at is None:
            state.liveness_since = now
        state.swept_at = now
        state.liveness, state.message = verdict
        self._healer.note_health(state, now)
        self._healer.watch_restart(state, now)
        for kind, answer in answers.items():
            self._move(state, kind, answer, now)
        self._alarms.judge(state, answers, now)

    def _move(
        self, state: AgentState, kind: ConditionType, answer: conditions.Answer, now: float
    ) -> None:
        before = state.conditions.get(kind)
        after = state.conditions[kind] = conditions.moved(before, kind, answer, now)
        if before is None or before.status is after.status:
            return
        if Status.FALSE in {before.status, after.status}:  # to Unknown and back is no news
            self._scribe.write(
                "condition-changed",
                now,
                agent=state.id,
                condition=kind.value,
                before=before.status.value,
                after=after.status.value,
                reason=after.reason,
            )
