"""Which worker judges a span, so that a session always meets the same one."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final, Generic, NamedTuple, TypeVar

import orjson

from otel_watchdog import instrumentations, semconv
from otel_watchdog.otlp import Recorded

SHARDS: Final = 16
"""Parts that conversations fall into; a worker has one or more."""

MAX_KNOWN: Final = 100_000
"""Traces, and conversations, that are remembered at least; twice as many at most."""

MAX_SECONDS: Final = 7200.0
"""Seconds that one of which nothing came is remembered at least; twice as long at most."""

_CONVERSATIONS: Final = (
    semconv.GEN_AI_CONVERSATION_ID,
    *(name for name in semconv.SESSIONS if name != semconv.GEN_AI_CONVERSATION_ID),
    semconv.ADK_SESSION_ID,
    *(
        f"{prefix}.{name}"
        for prefix in (
            semconv.TRACELOOP_PROPERTIES,
            instrumentations.LANGSMITH_METADATA,
            instrumentations.AI_METADATA,
        )
        for name in ("session_id", "thread_id", "conversation_id")
    ),
)

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class _Route(NamedTuple):
    """Where a trace goes."""

    shard: int
    conversation: str | None


def trace_of(recorded: Recorded) -> int:
    """Return the id of a span's or log record's trace; of one of no trace, its conversation's.

    The latter is below 0, as no trace's is.
    """
    if recorded.trace_id:
        return recorded.trace_id
    name = _conversation(recorded.attributes) or ""
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=8).digest()
    return -1 - int.from_bytes(digest)


def session_place(recorded: Recorded) -> str:
    """Return where a span's or log record's session lives: its conversation, else its trace."""
    return _conversation(recorded.attributes) or f"{recorded.trace_id:032x}"


class Routes:
    """Sends all spans of a trace, and all traces of a conversation, to one shard.

    A trace goes where its conversation went before, else where the conversation's name says, else,
    as long as none is known, where its own id says; there it stays. A conversation that is known
    late follows the trace that told of it.
    """

    def __init__(self) -> None:
        self._traces: _Lately[int, _Route] = _Lately()
        self._conversations: _Lately[str, int] = _Lately()

    def split(self, spans: Iterable[Recorded], at: float) -> dict[int, set[int]]:
        """Return ids of traces by shard; see `trace_of`.

        Args:
            spans: Spans and log records of one request.
            at: When it came, in seconds since the epoch.
        """
        self._traces.age(at)
        self._conversations.age(at)
        told: dict[int, str | None] = {}
        for span in spans:
            trace = trace_of(span)
            if told.get(trace) is None:
                known = self._traces.get(trace)
                if known is not None and known.conversation is not None:
                    told[trace] = known.conversation
                else:
                    told[trace] = _conversation(span.attributes)
        found: dict[int, set[int]] = {}
        for trace, conversation in told.items():
            found.setdefault(self._shard(trace, conversation), set()).add(trace)
        return found

    def shard_of(self, place: str) -> int:
        """Return the shard of a session, by its conversation, else by its trace's id."""
        known = self._conversations.get(place)
        return _hashed(place) if known is None else known

    def freeze(self) -> bytes:
        """Return all that it knows."""
        return orjson.dumps(
            {
                "traces": [[f"{key:x}", *route] for key, route in self._traces.items()],
                "conversations": list(self._conversations.items()),
            }
        )

    def thaw(self, body: bytes) -> None:
        """Know what `freeze` returned."""
        kept = orjson.loads(body)
        for key, shard, conversation in kept["traces"]:
            self._traces.put(int(key, 16), _Route(shard, conversation))
        for name, shard in kept["conversations"]:
            self._conversations.put(name, shard)

    def _shard(self, trace: int, conversation: str | None) -> int:
        known = self._traces.get(trace)
        place = conversation or f"{trace:032x}"
        shard = known.shard if known is not None else self.shard_of(place)
        if known is None or known.conversation != conversation:
            self._traces.put(trace, _Route(shard, conversation))
        if conversation is not None and self._conversations.get(conversation) != shard:
            self._conversations.put(conversation, shard)
        return shard


class _Lately(Generic[_Key, _Value]):
    """A bounded mapping in two generations: the older one is dropped as a whole."""

    def __init__(self) -> None:
        self._since = 0.0
        self._young: dict[_Key, _Value] = {}
        self._old: dict[_Key, _Value] = {}

    def get(self, key: _Key) -> _Value | None:
        """Return a value, which is young again; `None` if there is none."""
        found = self._young.get(key)
        if found is None and key in self._old:
            found = self._old[key]
            self.put(key, found)
        return found

    def put(self, key: _Key, value: _Value) -> None:
        """Remember a value."""
        if len(self._young) >= MAX_KNOWN:
            self._turn()
        self._young[key] = value

    def items(self) -> Iterable[tuple[_Key, _Value]]:
        """Return all, the older ones first."""
        return {**self._old, **self._young}.items()

    def age(self, at: float) -> None:
        """Drop what was not asked for, for long enough."""
        if at - self._since >= MAX_SECONDS:
            self._since = at
            self._turn()

    def _turn(self) -> None:
        self._old, self._young = self._young, {}


def _hashed(place: str) -> int:
    return blake2b(place.encode("utf-8", "replace"), digest_size=2).digest()[0] % SHARDS


def _conversation(attributes: Mapping[str, Any]) -> str | None:
    for name in _CONVERSATIONS:
        value = attributes.get(name)
        if isinstance(value, str) and value:
            return value
    return None
