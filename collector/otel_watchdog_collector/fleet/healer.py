"""Plans restarts, gives up where they do not help, and forgets them after lasting health."""

from collections.abc import Callable
from typing import NamedTuple

from otel_watchdog_collector.fleet.agents import AgentState, Pause
from otel_watchdog_collector.fleet.alarms import Alarms
from otel_watchdog_collector.fleet.incidents import IncidentKind
from otel_watchdog_collector.fleet.ladder import Ladder, Step
from otel_watchdog_collector.fleet.scribe import Scribe
from otel_watchdog_collector.fleet_config import FleetConfig
from otel_watchdog_collector.health import CRASH_LOOP, USER, HealingMode, Liveness


class Action(NamedTuple):
    """Something to be done to an agent's process, outside of this."""

    kind: str
    """`restart`, `pause` or `resume`."""
    agent: str
    reason: str


class Healer:
    """Heals the agents of one fleet, or says what it would do.

    Args:
        config: Settings.
        scribe: The fleet's.
        alarms: The fleet's.
        action_seconds: Returns the time limit of an agent's actions; `None`: there is no way to
            act on it.
    """

    def __init__(
        self,
        config: FleetConfig,
        scribe: Scribe,
        alarms: Alarms,
        action_seconds: Callable[[str], float | None],
    ) -> None:
        self._config = config
        self._scribe = scribe
        self._alarms = alarms
        self._action_seconds = action_seconds

    def note_health(self, state: AgentState, now: float) -> None:
        """Forget earlier restarts after unbroken health for long enough."""
        if state.liveness is not Liveness.READY:
            state.healthy_since = None
            return
        if state.healthy_since is None:
            state.healthy_since = now
        if now - state.healthy_since < self._config.healthy_reset_seconds:
            return
        for ladder, suffix in ((state.ladder, ""), (state.shadow, "-observed")):
            if not ladder.is_clear:
                self._scribe.write(
                    f"watchdog-healthy-reset{suffix}",
                    now,
                    agent=state.id,
                    failures=ladder.failures,
                )
                ladder.clear()
        self._alarms.clear(IncidentKind.CRASH_LOOP, state, now)

    def watch_restart(self, state: AgentState, now: float) -> None:
        """Let people know, once, of a restart that does not come back."""
        since, limit = state.restarting_since, self._action_seconds(state.id)
        if since is None or limit is None or state.is_wedged or now - since < limit:
            return
        state.is_wedged = True
        cause = f"a restart of {state.id} has not come back for {limit:g} s"
        self._alarms.raise_(IncidentKind.WEDGE, state, cause, now)

    def plan(
        self, state: AgentState, mode: HealingMode, now: float, restarting: Callable[[], int]
    ) -> list[Action]:
        """Return what is to be done to an agent as it is now.

        Args:
            state: It.
            mode: What may be done.
            now: In seconds since the epoch.
            restarting: Counts the restarts that are in work in the fleet.
        """
        idle = state.paused is None and state.restarting_since is None
        if not idle or not state.liveness.is_dead or self._alarms.is_outage(state):
            return []
        config = self._config
        acts = mode is HealingMode.HEAL and self._action_seconds(state.id) is not None
        if acts and restarting() >= config.max_restarts_at_once:
            return []
        ladder = state.ladder if acts else state.shadow
        step = ladder.climb(now, config.backoff_seconds, config.crash_loop_after)
        if step is Step.WAIT:
            return []
        if step is Step.GIVE_UP:
            return self._give_up(state, ladder, now, acts=acts)
        self._write("watchdog-restart", state, ladder, now, acts=acts)
        if not acts:
            return []
        state.restarting_since = now
        return [Action("restart", state.id, state.liveness.value)]

    def _give_up(
        self, state: AgentState, ladder: Ladder, now: float, *, acts: bool
    ) -> list[Action]:
        self._write("watchdog-crashloop-pause", state, ladder, now, acts=acts)
        self._write("watchdog-giveup", state, ladder, now, acts=acts)
        times = ladder.failures
        cause = (
            f"{state.id} was restarted {times} times in vain and is left alone until it is resumed"
            if acts
            else f"{state.id} is dead; {times} restarts would have been in vain"
        )
        self._alarms.raise_(IncidentKind.CRASH_LOOP, state, cause, now)
        if not acts:
            return []
        state.paused = Pause(at=now, trigger=CRASH_LOOP, by=USER)
        return [Action("pause", state.id, CRASH_LOOP)]

    def _write(
        self, action: str, state: AgentState, ladder: Ladder, now: float, *, acts: bool
    ) -> None:
        self._scribe.write(
            action if acts else f"{action}-observed",
            now,
            agent=state.id,
            failures=ladder.failures,
            backoff_seconds=max(0.0, ladder.backoff_until - now),
            **{"class": state.liveness.value},
        )
