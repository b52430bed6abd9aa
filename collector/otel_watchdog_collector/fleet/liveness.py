"""Says by the evidence whether an agent lives: a pure function of what is known and the time."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from otel_watchdog_collector.fleet.evidence import Evidence
from otel_watchdog_collector.fleet_config import AgentConfig, FleetConfig
from otel_watchdog_collector.health import Liveness

CADENCE_SLACK: Final = 0.25
"""Share of its cadence by which an agent may be late."""

_WAITING: Final = frozenset({Liveness.NO_OUTPUT, Liveness.SHELL_PROMPT})
"""What an agent looks like that backs off from a provider which fails."""


class Verdict(NamedTuple):
    """What an agent is, and why."""

    liveness: Liveness
    message: str


class Moment(NamedTuple):
    """When it is judged, and by what."""

    now: float
    listening_since: float
    """Silence from before this proves nothing: nobody listened."""
    config: FleetConfig
    heartbeat_seconds: float
    """After which a heartbeat is old."""


def classify(seen: Evidence, declared: AgentConfig | None, moment: Moment) -> Verdict:
    """Return what an agent is.

    A refused credential goes before silence: a process that ended because of it must not be
    restarted into it. Nothing is held against an agent in the first minute after its start.
    """
    found = _refused(seen, moment) or _silent(seen, declared, moment) or _alive(seen, moment)
    bad = found.liveness.is_dead or found.liveness is Liveness.AUTH_REQUIRED
    if bad and is_booting(seen, moment):
        return Verdict(Liveness.UNKNOWN, "it was launched a moment ago")
    if found.liveness in _WAITING and seen.failed >= moment.config.outage_streak:
        return Verdict(Liveness.UNKNOWN, "it waits while its model provider fails")
    return found


def is_booting(seen: Evidence, moment: Moment) -> bool:
    """Say whether an agent was launched a moment ago; one whose launch is not known was not."""
    launched_at = seen.launched_at
    return launched_at is not None and moment.now - launched_at < moment.config.boot_grace_seconds


def cadence_of(seen: Evidence, declared: AgentConfig | None) -> float | None:
    """Return the seconds between an agent's runs, as declared; `None`: it runs all the time."""
    if seen.report.cadence_seconds is not None:
        return seen.report.cadence_seconds
    return declared.cadence_seconds if declared is not None else None


def idle_reason_of(seen: Evidence, declared: AgentConfig | None) -> str | None:
    """Return why an agent rightly does nothing; `None`: nobody says so."""
    return seen.idle_reason or (declared.idle_reason if declared is not None else None)


def _refused(seen: Evidence, moment: Moment) -> Verdict | None:
    if seen.refused < moment.config.login_streak:
        return None
    return Verdict(
        Liveness.AUTH_REQUIRED, f"its credential was refused {seen.refused} times in a row"
    )


def _silent(seen: Evidence, declared: AgentConfig | None, moment: Moment) -> Verdict | None:
    """Return what a silent agent is; `None` if it is not silent, or silence means nothing."""
    expected = declared is not None and declared.expected
    cadence = cadence_of(seen, declared)
    if not expected and (seen.last_beat_at is None or seen.stopped or cadence is not None):
        return None
    allowed = moment.config.silent_seconds
    if cadence is not None:
        allowed = max(allowed, cadence * (1 + CADENCE_SLACK))
    since = max(moment.listening_since, seen.launched_at or 0.0, seen.last_seen_at or 0.0)
    silent = moment.now - since
    if silent < allowed:
        return None
    return Verdict(Liveness.NO_SESSION, f"nothing was heard of it for {_span(silent)}")


def _alive(seen: Evidence, moment: Moment) -> Verdict:
    if seen.stopped:
        return Verdict(Liveness.UNKNOWN, "its process ended as it should")
    launched_at, seen_at = seen.launched_at, seen.last_seen_at
    if launched_at is not None and seen_at is not None and seen_at < launched_at:
        return Verdict(Liveness.UNKNOWN, "nothing was heard of it since it was launched")
    idle = seen.idle_seconds(moment.now)
    beats = (
        seen.last_beat_at is not None and moment.now - seen.last_beat_at < moment.heartbeat_seconds
    )
    found = _beating(seen, idle, moment) if beats else _by_spans(seen, idle, moment)
    if found.liveness is Liveness.READY and seen.refused:
        said = f"its credential was refused {seen.refused} of {moment.config.login_streak} times"
        return Verdict(Liveness.UNKNOWN, said)
    return found


def _by_spans(seen: Evidence, idle: float | None, moment: Moment) -> Verdict:
    """Return what can be said without a heartbeat: that it works, or nothing.

    One that sent heartbeats is believed for no longer than those are.
    """
    beats = seen.last_beat_at is not None
    lately = moment.heartbeat_seconds if beats else moment.config.no_output_seconds
    if seen.last_span_at is not None and idle is not None and idle < lately:
        return Verdict(Liveness.READY, "a span of it ended lately")
    if seen.last_beat_at is None:
        return Verdict(Liveness.UNKNOWN, "it sends no heartbeats and no span came lately")
    late = _span(moment.now - seen.last_beat_at)
    return Verdict(Liveness.UNKNOWN, f"its last heartbeat came {late} ago")


def _beating(seen: Evidence, idle: float | None, moment: Moment) -> Verdict:
    beat = seen.beat
    config = moment.config
    if beat is None or beat.open_spans is None or idle is None:
        return Verdict(Liveness.READY, "its heartbeats come")
    if beat.open_spans == 0:
        queued = seen.queued
        waits = bool(queued) and seen.idle_reason is None
        if waits and idle >= config.shell_prompt_seconds:
            said = f"{queued} pieces of work wait, and no run was open for {_span(idle)}"
            return Verdict(Liveness.SHELL_PROMPT, said)
        return Verdict(Liveness.READY, "its heartbeats come; it has nothing open")
    return _open(seen, idle, moment)


def _open(seen: Evidence, idle: float, moment: Moment) -> Verdict:
    """Return what an agent is in whose open run something should happen."""
    config = moment.config
    waiting = _open_for(seen, config.human_tools, moment)
    if waiting is not None:
        if waiting >= config.stuck_overlay_seconds:
            said = f"a person was waited for, for {_span(waiting)}"
            return Verdict(Liveness.STUCK_OVERLAY, said)
        return Verdict(Liveness.READY, "it waits for a person")
    if idle < config.no_output_seconds:
        return Verdict(Liveness.READY, "a span of it began or ended lately")
    if _open_for(seen, config.long_tools, moment) is not None:
        return Verdict(Liveness.UNKNOWN, "a tool is open that may take long")
    return Verdict(Liveness.NO_OUTPUT, f"in its open run nothing began or ended for {_span(idle)}")


def _open_for(seen: Evidence, patterns: Sequence[str], moment: Moment) -> float | None:
    """Return for how long the longest open span of such a name has been open; `None`: none is."""
    beat = seen.beat
    if beat is None or seen.last_beat_at is None:
        return None
    since = moment.now - seen.last_beat_at
    ages = [
        age + since
        for name, age in zip(beat.names, beat.ages, strict=False)
        if matches(name, patterns)
    ]
    return max(ages, default=None)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Say whether a span's name, or its last word, is of one of these patterns.

    >>> matches("execute_tool ask_user", ["ask_*"]), matches("execute_tool build", ["ask_*"])
    (True, False)
    """
    name = name.lower()
    last = name.rsplit(" ", 1)[-1]
    return any(fnmatchcase(name, one) or fnmatchcase(last, one) for one in patterns)


def _span(seconds: float) -> str:
    """Return a span of time in words.

    >>> _span(42), _span(600), _span(90_000)
    ('42 s', '10 min', '25 h')
    """
    for size, unit in ((7200, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds / {'h': 3600, 'min': 60}[unit]:.0f} {unit}"
    return f"{seconds:.0f} s"
