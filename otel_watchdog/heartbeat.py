"""Tells a fleet service of open spans: those that ended alone do not show a run that hangs."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from opentelemetry._logs import Logger, LogRecord, get_logger, get_logger_provider

from otel_watchdog import semconv
from otel_watchdog.clock import Clock, system_clock
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.streams.span_tree import Node
from otel_watchdog.transport.background import Worker
from otel_watchdog.version import VERSION

TICK_SECONDS: Final = 5.0
"""Seconds after a heartbeat in which changes wait for the next."""

CLOSE_SECONDS: Final = 2.0
"""How long the program's end may wait for the last heartbeat."""

MAX_AGENTS: Final = 256
"""Agents that are told of; the one that was idle for longest is dropped first, with a goodbye."""

MAX_NAMES: Final = 32
"""Open spans of an agent that are named."""

MAX_CHARS: Final = 128
"""Characters of a name."""

_logger = logging.getLogger(__name__)


class Heartbeat:
    """Sends a log record for each agent, regularly and when its spans changed.

    A record holds the agent's name, how many of its spans are open, names and ages of some, and
    how long ago one of them began or ended; no content. It goes to the global logger provider,
    which needs an exporter. A thread of its own does all that: nothing here blocks or raises into
    the program. The thread begins with the first span, in a forked child, too.

    Args:
        open_spans: The open spans by id, oldest first; others change it meanwhile.
        interval_seconds: Seconds between heartbeats of an agent that does nothing.
        on_error: Called with the place and the error where something fails.
        emit: Takes records; default: the global logger provider's logger does.
        clock: Tells the time.
    """

    def __init__(
        self,
        open_spans: Mapping[int, Node],
        *,
        interval_seconds: float,
        on_error: Callable[[str, Exception], None],
        emit: Callable[[LogRecord], None] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._open_spans = open_spans
        self._interval_seconds = interval_seconds
        self._on_error = on_error
        self._clock = clock
        self._emit = emit
        self._is_running = False
        self._worker = Worker(self.beat, name="watchdog-heartbeat", on_fork=self._begin)
        self._begin()

    def touch(self) -> None:
        """Note that a span began; returns at once."""
        if not self._is_running:
            self._is_running = True
            self._worker.wake()

    def close(self) -> None:
        """Say goodbye for all agents; waits two seconds at most. Safe to call twice."""
        self._worker.close(CLOSE_SECONDS)

    def _begin(self) -> None:
        """Know nothing: at first, and in a forked child, whose agents are not its parent's."""
        self._is_running = False
        self._born_at = self._clock()
        self._spans: dict[int, _Open] = {}
        self._agents: OrderedDict[str | None, _Agent] = OrderedDict()

    def beat(self) -> float:
        """Send what is due; return the seconds until more may be."""
        now = self._clock()
        closing = self._worker.is_closing
        try:
            self._look(now)
            for name, agent in list(self._agents.items()):
                if closing or agent.changed or now - agent.sent_at >= self._interval_seconds:
                    self._send(name, agent, now, stopping=closing)
        except Exception as error:  # noqa: BLE001 - the program must not notice
            self._on_error("heartbeat", error)
        return min(TICK_SECONDS, self._interval_seconds)

    def _look(self, now: float) -> None:
        """Take note of spans that began and ended since the last look."""
        found = {
            number: node for number, node in dict(self._open_spans).items() if node.span is not None
        }
        for number in self._spans.keys() - found.keys():
            for name in self._spans.pop(number).agents:
                self._stir(name, now)
        for number, node in found.items():
            known = self._spans.get(number)
            if known is not None and known.agents != (None,):
                continue
            agents = tuple(dict.fromkeys(_agents_around(node))) or (None,)
            if known is None or known.agents != agents:
                since = known.since if known is not None else now
                self._spans[number] = _Open(str(node.span.name)[:MAX_CHARS], since, agents)
                for name in agents:
                    self._stir(name, now)

    def _stir(self, name: str | None, now: float) -> None:
        """Note that a span of an agent, or of one that works for it, began or ended."""
        if name is not None and self._agents.pop(None, None) is not None:
            self._spans = {key: one for key, one in self._spans.items() if one.agents != (None,)}
        agent = self._agents.setdefault(name, _Agent())
        agent.active_at = now
        agent.changed = True
        self._agents.move_to_end(name)
        if len(self._agents) > MAX_AGENTS:
            dropped, last = self._agents.popitem(last=False)
            self._send(dropped, last, now, stopping=True)

    def _send(self, name: str | None, agent: "_Agent", now: float, *, stopping: bool) -> None:
        agent.changed = False
        agent.sent_at = now
        spans = [one for one in list(self._spans.values()) if one.agents[0] == name]
        ages = [now - one.since for one in spans]
        facts: dict[str, Any] = {
            semconv.HEARTBEAT_OPEN_SPANS: len(spans),
            semconv.HEARTBEAT_OLDEST_OPEN_SECONDS: max(ages, default=0.0),
            semconv.HEARTBEAT_IDLE_SECONDS: now - agent.active_at,
            semconv.HEARTBEAT_NAMES: [one.name for one in spans[-MAX_NAMES:]],
            semconv.HEARTBEAT_AGES: ages[-MAX_NAMES:],
            semconv.HEARTBEAT_UPTIME_SECONDS: now - self._born_at,
            semconv.HEARTBEAT_STOPPING: stopping,
        }
        if name is not None:
            facts[semconv.GEN_AI_AGENT_NAME] = name
        if self._emit is None:
            self._emit = _logger_of_program().emit
        self._emit(LogRecord(event_name=semconv.HEARTBEAT_EVENT, attributes=facts))


def heartbeat_of(
    config: WatchdogConfig,
    open_spans: Mapping[int, Node],
    on_error: Callable[[str, Exception], None],
) -> Heartbeat | None:
    """Return the heartbeat that the settings ask for; `None`: none."""
    if not config.heartbeat_seconds:
        return None
    return Heartbeat(open_spans, interval_seconds=config.heartbeat_seconds, on_error=on_error)


class _Open:
    """An open span."""

    __slots__ = ("agents", "name", "since")

    def __init__(self, name: str, since: float, agents: tuple[str | None, ...]) -> None:
        self.name = name
        self.since = since
        self.agents = agents
        """Its agent's name, and those of the agents that wait for that one."""


class _Agent:
    """What was told of an agent."""

    __slots__ = ("active_at", "changed", "sent_at")

    def __init__(self) -> None:
        self.active_at = 0.0
        self.changed = True
        self.sent_at = float("-inf")


def _agents_around(node: Node) -> Iterator[str]:
    """Yield names of agents in whose spans a span stands, the nearest first."""
    for one in (node, *node.above()):
        name = getattr(one.reading, "agent", None)
        if not name and one.span is not None:
            attributes = one.span.attributes or {}
            name = attributes.get(semconv.GEN_AI_AGENT_NAME) or attributes.get(semconv.AGENT_NAME)
        if isinstance(name, str) and name:
            yield name[:MAX_CHARS]


def _logger_of_program() -> Logger:
    """Return where records go; say so once where that is nowhere."""
    if type(get_logger_provider()).__module__.startswith("opentelemetry._logs"):
        _logger.warning(
            "heartbeats go nowhere: the program has set no logger provider; set one with an "
            "OTLP exporter, or heartbeat_seconds to 0"
        )
    return get_logger(semconv.SCOPE, VERSION)
