"""Tells people: one message when an agent is being corrected, one when that is over."""

import http.client
import logging
from collections import OrderedDict, deque
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar, Final

import orjson

from otel_watchdog.clock import Clock, system_clock
from otel_watchdog.errors import ConfigError
from otel_watchdog.model import Correction, ModelTurn, Observation, RunEnded, RunStarted, Tier
from otel_watchdog.transport import web
from otel_watchdog.transport.background import Worker

CLOSE_SECONDS: Final = 2.0
POST_SECONDS: Final = 5.0
MAX_WAITING: Final = 64
"""Messages that wait to be sent."""
MAX_TRIES: Final = 4
RETRY_SECONDS: Final = 2.0
MAX_RETRY_SECONDS: Final = 60.0
MAX_CHARS: Final = 400

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Incident:
    first: Correction
    tier: Tier
    count: int = 1
    turns_since: int = 0
    run: str = ""


@dataclass(slots=True)
class _Message:
    """What is told of an incident."""

    incident: _Incident
    state: str
    """`open`, `progressed`, `ended`, `failed` or `replaced`."""
    tries: int = 0


class Webhook:
    """Posts to an incoming webhook of Slack, or of anything that takes JSON, one agent's trouble.

    An incident opens with a session's first correction and stays one, however many follow; it
    clears by itself when the session goes some turns without a correction, or when its run ends.
    Each is told once. An incident that cleared before it could be told is not told at all. Posts
    go out on a thread of their own, no faster than the limit; what comes faster is counted in the
    next message.

    The body is `{"text": …, "metadata": {"event_type": "watchdog_incident", "event_payload": …}}`.

    Args:
        url: Where to post; keep it secret, as it is the key.
        token: Sent as a bearer token, for receivers that ask for one.
        min_tier: The mildest tier that opens an incident.
        quiet_turns: Turns without a correction that clear an incident, at least 1.
        max_posts_per_minute: At least 1.
        max_incidents: Open ones that are kept in mind, at least 1.
        clock: For the limit.

    Raises:
        ConfigError: A value is wrong.
    """

    name: ClassVar[str] = "webhook"

    def __init__(  # noqa: PLR0913 - each has a default that suits most
        self,
        url: str,
        *,
        token: str | None = None,
        min_tier: Tier = Tier.NUDGE,
        quiet_turns: int = 5,
        max_posts_per_minute: int = 20,
        max_incidents: int = 1024,
        clock: Clock = system_clock,
    ) -> None:
        if min(quiet_turns, max_posts_per_minute, max_incidents) < 1:
            raise ConfigError(
                f"{self.name}.quiet_turns, .max_posts_per_minute and .max_incidents must be at "
                f"least 1, got {quiet_turns!r}, {max_posts_per_minute!r}, {max_incidents!r}"
            )
        self._address = web.Address(url, setting=f"{self.name}.url")
        self._headers = web.bearer(token)
        self._min_tier = min_tier
        self._quiet_turns = quiet_turns
        self._max_posts_per_minute = max_posts_per_minute
        self._max_incidents = max_incidents
        self._clock = clock
        self._incidents: OrderedDict[str, _Incident] = OrderedDict()
        self._messages: deque[_Message] = deque()
        self._posted: deque[float] = deque(maxlen=max_posts_per_minute)
        self._untold = 0
        self._dropped = 0
        self._lock = Lock()
        self._worker = Worker(self._work, name=f"watchdog-{self.name}", on_fork=self._renew)

    @property
    def dropped(self) -> int:
        """Messages that were given up: too many waited, or the receiver did not take them."""
        return self._dropped

    def send(self, correction: Correction) -> None:
        """See `Channel.send`."""
        if correction.tier < self._min_tier and correction.session not in self._incidents:
            return
        with self._lock:
            incident = self._incidents.get(correction.session)
            if incident is not None:
                incident.count += 1
                incident.turns_since = 0
                incident.tier = max(incident.tier, correction.tier)
                return
            incident = _Incident(correction, correction.tier, run=correction.run)
            self._incidents[correction.session] = incident
            if len(self._incidents) > self._max_incidents:
                self._incidents.popitem(last=False)
            self._put(_Message(incident, "open"))
        self._worker.wake()

    def observe(self, observation: Observation) -> None:
        """See `Following.observe`: progress and the run's end clear an incident."""
        incident = self._incidents.get(observation.session)
        if incident is None:
            return
        with self._lock:
            state = self._state(incident, observation)
            if state is None or self._incidents.pop(observation.session, None) is None:
                return
            self._clear(incident, state)
        self._worker.wake()

    def close(self) -> None:
        """See `Channel.close`; waits two seconds at most."""
        self._worker.close(CLOSE_SECONDS)

    def _state(self, incident: _Incident, observation: Observation) -> str | None:
        """Say how an observation clears an incident; `None` if it does not."""
        if isinstance(observation, RunEnded) and observation.run == incident.run:
            return "failed" if observation.error else "ended"
        if isinstance(observation, RunStarted) and observation.run != incident.run:
            return "replaced"
        if isinstance(observation, ModelTurn) and observation.turn > incident.first.turn:
            incident.turns_since += 1
            return "progressed" if incident.turns_since >= self._quiet_turns else None
        return None

    def _clear(self, incident: _Incident, state: str) -> None:
        """Tell that it is over, unless nobody was told that it began."""
        for message in self._messages:
            if message.incident is incident and message.tries == 0:
                self._messages.remove(message)
                return
        self._put(_Message(incident, state))

    def _put(self, message: _Message) -> None:
        if len(self._messages) >= MAX_WAITING:
            self._messages.popleft()
            self._untold += 1
            self._dropped += 1
        self._messages.append(message)

    def _work(self) -> float | None:
        """Post the next message, if the limit allows; return when to come again."""
        with self._lock:
            if not self._messages:
                return None
            wait = self._wait()
            if wait > 0:
                return wait
            message = self._messages[0]
            message.tries += 1
            untold = self._untold
            self._posted.append(self._clock())
        retry = self._post(message, untold)
        with self._lock:
            if retry is not None and message.tries < MAX_TRIES and not self._worker.is_closing:
                return retry
            if self._messages and self._messages[0] is message:
                self._messages.popleft()
            if retry is None:
                self._untold -= untold
            else:
                self._dropped += 1
        return self._work() if self._worker.is_closing and retry is None else 0

    def _wait(self) -> float:
        if len(self._posted) < self._max_posts_per_minute or self._worker.is_closing:
            return 0
        return self._posted[0] + 60 - self._clock()

    def _post(self, message: _Message, untold: int) -> float | None:
        """Post; `None` if that is done with, else the seconds to wait before the next try."""
        wait = RETRY_SECONDS * 2.0 ** (message.tries - 1)
        try:
            answer = self._address.post(
                self._address.path or "/",
                orjson.dumps(_body(message, untold)),
                headers=self._headers,
                timeout_seconds=POST_SECONDS,
            )
        except (OSError, http.client.HTTPException) as error:
            _logger.info("a notification was not taken: %s", type(error).__name__)
            return wait
        if answer.status in {408, 429} or answer.status >= 500:  # noqa: PLR2004 - HTTP
            return max(wait, web.retry_after(answer, MAX_RETRY_SECONDS))
        if answer.status >= 300:  # noqa: PLR2004 - HTTP
            _logger.warning("a notification was refused with status %s", answer.status)
        return None

    def _renew(self) -> None:
        """Begin with nothing in hand in a forked child: its parent tells what it knows."""
        self._lock = Lock()
        self._messages = deque()
        self._incidents = OrderedDict()


def _body(message: _Message, untold: int) -> dict[str, Any]:
    incident = message.incident
    first = incident.first
    facts = {
        "state": message.state,
        "session": first.session,
        "agent": first.agent or "",
        "run": first.run,
        "detector": first.finding.detector,
        "severity": first.finding.severity.value,
        "tier": incident.tier.label,
        "mode": first.mode.label,
        "turn": first.turn,
        "corrections": incident.count,
        "correction_id": first.id,
        "untold": untold,
    }
    return {
        "text": _text(message, untold),
        "metadata": {"event_type": "watchdog_incident", "event_payload": facts},
    }


def _text(message: _Message, untold: int) -> str:
    incident = message.incident
    first = incident.first
    who = f"agent {_plain(first.agent)}" if first.agent else "an agent"
    where = f"{who} (session {_plain(first.session)})"
    if message.state == "open":
        text = (
            f"[watchdog] {where} was told to {first.tier.label}: "
            f"{_plain(first.finding.reason)} (turn {first.turn}, {first.finding.detector})"
        )
    else:
        how = {
            "progressed": "goes on without a correction",
            "ended": "has ended its run",
            "failed": "has ended its run with an error",
            "replaced": "has begun another run",
        }[message.state]
        times = "1 correction" if incident.count == 1 else f"{incident.count} corrections"
        text = f"[watchdog] cleared: {where} {how}, after {times} up to {incident.tier.label}"
    return f"{text}; {untold} more messages were not sent" if untold else text


def _plain(text: str) -> str:
    """Return text that mentions nobody and links nowhere, in one line."""
    line = " ".join(text.split())
    line = line if len(line) <= MAX_CHARS else f"{line[:MAX_CHARS]}…"
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
