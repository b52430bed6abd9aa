"""What passes through a watchdog and how it fares, as metrics that are read when asked for.

On the way of a span nothing but numbers is added up. All watchdogs of a process are one in its
metrics: an instrument of one name exists once.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sized
from threading import Lock
from time import perf_counter
from typing import Final, TypeAlias
from weakref import WeakSet

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Histogram, Meter, Observation as Point

from otel_watchdog import semconv
from otel_watchdog.channels import InProcess
from otel_watchdog.model import Mode, ModelTurn, Observation, RunEnded, RunStarted
from otel_watchdog.version import VERSION

MAX_AGENTS: Final = 200
"""Names of agents that metrics tell apart."""

OTHER_AGENTS: Final = "(others)"
"""What the agents beyond go by in metrics."""

MAX_SESSIONS: Final = 4096
"""Sessions whose agent's name is remembered; the one heard of first is dropped first."""

TIMED: Final = 16
"""Of so many spans, one is timed."""

_SECONDS: Final = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 5e-2, 0.25)

_Key: TypeAlias = tuple[tuple[str, str], ...]
_Values: TypeAlias = Mapping[_Key, float]


class Names:
    """Names of agents for metrics, of which only so many are told apart.

    >>> Names(max_agents=1)["a"], Names(max_agents=0)["a"], Names()[None]
    ('a', '(others)', '')
    """

    def __init__(self, max_agents: int = MAX_AGENTS) -> None:
        self._max_agents = max_agents
        self._known: set[str] = set()

    def __getitem__(self, agent: str | None) -> str:
        """Return what an agent goes by; "" for one without a name."""
        name = agent or ""
        if name not in self._known:
            if name and len(self._known) >= self._max_agents:
                return OTHER_AGENTS
            self._known.add(name)
        return name


class Vitals:
    """Adds up what one watchdog reads.

    Args:
        sessions: Returns the sessions that are kept.
        mailbox: Where corrections wait for their agents.
        mode: Returns the mode in force.
        meter: Where the metrics go; default: the process's own, with all other watchdogs'.
    """

    def __init__(
        self,
        sessions: Callable[[], Sized],
        mailbox: InProcess,
        mode: Callable[[], Mode],
        *,
        meter: Meter | None = None,
    ) -> None:
        self.sessions = sessions
        self.mailbox = mailbox
        self.mode = mode
        self.spans = 0
        self.runs: Counter[tuple[str, str]] = Counter()
        """By agent and how they ended."""
        self.tokens: Counter[str] = Counter()
        self.cost: dict[str, float] = {}
        """US dollars, by agent, where spans say it."""
        self._names = Names()
        self._agents: OrderedDict[str, str] = OrderedDict()
        self._seconds = _shown(self, meter)

    def begin(self) -> float:
        """Count a span; return when its reading began, if it is one that is timed, else 0."""
        self.spans += 1
        return 0.0 if self.spans % TIMED else perf_counter()

    def end(self, begun: float) -> None:
        """Note how long the reading took that began at `begun`."""
        self._seconds.record(perf_counter() - begun)

    def take(self, seen: Observation) -> None:
        """Add up what a run's begin, its turns and its end tell."""
        if type(seen) is ModelTurn:
            if seen.input_tokens or seen.output_tokens or seen.cost_usd:
                self._spend(seen)
        elif type(seen) is RunStarted:
            self._agents[seen.session] = self._names[seen.agent]
            if len(self._agents) > MAX_SESSIONS:
                self._agents.popitem(last=False)
        elif type(seen) is RunEnded:
            self._finish(seen)

    def _spend(self, turn: ModelTurn) -> None:
        agent = self._agents.get(turn.session, "")
        self.tokens[agent] += (turn.input_tokens or 0) + (turn.output_tokens or 0)
        if turn.cost_usd is not None:
            self.cost[agent] = self.cost.get(agent, 0.0) + turn.cost_usd

    def _finish(self, ended: RunEnded) -> None:
        cap = self.mailbox.cap(ended.session)
        if cap is not None and cap.max_turns is not None and ended.turn >= cap.max_turns:
            how = "capped"
        else:
            how = "failed" if ended.error else "finished"
        self.runs[self._agents.get(ended.session, ""), how] += 1


class _Shown:
    """The instruments, over some watchdogs."""

    def __init__(self, meter: Meter, living: Iterable[Vitals]) -> None:
        self._living = living
        count, gauge = meter.create_observable_counter, meter.create_observable_gauge
        count(semconv.METRIC_SPANS, [self._ask(lambda one: {(): one.spans})], "{span}")
        count(semconv.METRIC_RUNS, [self._ask(_runs)], "{run}")
        count(semconv.METRIC_AGENT_TOKENS, [self._ask(_tokens)], "{token}")
        count(semconv.METRIC_AGENT_COST, [self._ask(_cost)], "{USD}")
        count(
            semconv.METRIC_FEEDBACK_DROPPED,
            [self._ask(lambda one: {(): one.mailbox.dropped})],
            "{correction}",
        )
        gauge(
            semconv.METRIC_SESSIONS, [self._ask(lambda one: {(): len(one.sessions())})], "{session}"
        )
        gauge(
            semconv.METRIC_FEEDBACK_PENDING,
            [self._ask(lambda one: {(): one.mailbox.pending})],
            "{correction}",
        )
        gauge(semconv.METRIC_WATCHDOGS, [self._ask(_modes)], "{watchdog}")
        self.seconds = meter.create_histogram(
            semconv.METRIC_ON_END_DURATION,
            "s",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    def _ask(self, read: Callable[[Vitals], _Values]) -> Callable[[CallbackOptions], list[Point]]:
        def points(_: CallbackOptions) -> list[Point]:
            total: dict[_Key, float] = {}
            for one in list(self._living):
                for key, value in read(one).items():
                    total[key] = total.get(key, 0) + value
            return [Point(value, dict(key)) for key, value in total.items()]

        return points


def _runs(one: Vitals) -> _Values:
    return {
        ((semconv.GEN_AI_AGENT_NAME, agent), (semconv.WATCHDOG_RUN_END, how)): count
        for (agent, how), count in list(one.runs.items())
    }


def _tokens(one: Vitals) -> _Values:
    return {((semconv.GEN_AI_AGENT_NAME, agent),): n for agent, n in list(one.tokens.items())}


def _cost(one: Vitals) -> _Values:
    return {((semconv.GEN_AI_AGENT_NAME, agent),): usd for agent, usd in list(one.cost.items())}


def _modes(one: Vitals) -> _Values:
    return {((semconv.WATCHDOG_MODE, one.mode().label),): 1}


_living: WeakSet[Vitals] = WeakSet()
_lock = Lock()
_instruments: list[_Shown] = []


def _shown(one: Vitals, meter: Meter | None) -> Histogram:
    """Show a watchdog's figures; return what its timings are recorded in."""
    if meter is not None:
        return _Shown(meter, WeakSet([one])).seconds
    with _lock:
        _living.add(one)
        if not _instruments:
            _instruments.append(_Shown(metrics.get_meter(semconv.SCOPE, VERSION), _living))
        return _instruments[0].seconds
