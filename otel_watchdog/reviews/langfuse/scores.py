"""Corrections and their outcomes as Langfuse scores, so that they can be counted by tier."""

import threading
from collections import OrderedDict, deque
from typing import Any, Final, NamedTuple

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from otel_watchdog import semconv
from otel_watchdog.model import Mode
from otel_watchdog.transport.background import Worker

_OF_TRACES: Final = (semconv.SCORE_MAX_TIER, semconv.SCORE_CORRECTIONS)
_MAX_TRACES: Final = 1000
"""Traces whose maxima are known; of one that is silent for longer they begin anew."""


class _Seen(NamedTuple):
    trace_id: str
    observation_id: str
    facts: dict[str, Any]


class LangfuseScores(SpanProcessor):
    """Writes a score for what each correction and each outcome says; add it beside the watchdog.

    For example::

        provider.add_span_processor(LangfuseScores(langfuse))

    Langfuse groups by score, not by metadata, so corrections by tier need them. Ids are fixed: what
    is written twice is one score.

    - `watchdog.tier`, on a correction: the tier's word
    - `watchdog.detector`, on a correction: the detector's name
    - `watchdog.heeded`, on a correction: 1 if the agent changed course, else 0
    - `watchdog.turns_to_heed`, on a correction: turns until it did
    - `watchdog.max_tier`, on a trace: the highest tier so far, 1 to 5
    - `watchdog.corrections`, on a trace: how many so far

    The first two end in `-observed` where nothing was delivered, and such a correction does not
    count for its trace. Spans of traces that are not sampled have no scores.

    Args:
        langfuse: A client of `langfuse`, version 4 or 5.
        max_waiting: Corrections and outcomes kept until they are written; the oldest is dropped
            first.
    """

    def __init__(self, langfuse: Any, *, max_waiting: int = 1000) -> None:
        self._langfuse = langfuse
        self._waiting: deque[_Seen] = deque(maxlen=max_waiting)
        self._traces: OrderedDict[str, list[int]] = OrderedDict()
        self._drained = threading.Condition()
        self._worker = Worker(self._write, name="otel-watchdog langfuse scores")

    def on_start(self, span: Any, parent_context: Context | None = None) -> None:
        """Do nothing: a correction is whole when its span ends."""

    def on_end(self, span: ReadableSpan) -> None:
        """Have what a span of ours says written; returns at once."""
        scope, place, facts = span.instrumentation_scope, span.context, span.attributes
        if scope is None or scope.name != semconv.SCOPE or not facts:
            return
        if semconv.WATCHDOG_CORRECTION_ID not in facts or not place.trace_flags.sampled:
            return
        about = span.links[0].context if span.links else place
        seen = _Seen(f"{about.trace_id:032x}", f"{about.span_id:016x}", dict(facts))
        self._waiting.append(seen)
        self._worker.wake()

    def shutdown(self) -> None:
        """Write what waits. Safe to call twice."""
        self._worker.close(timeout_seconds=5.0)
        self._write()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Hand what waits to the client; its own `flush` sends it."""
        self._worker.wake()
        with self._drained:
            return self._drained.wait_for(lambda: not self._waiting, timeout_millis / 1000)

    def _write(self) -> None:
        while self._waiting:
            seen = self._waiting[0]
            if semconv.WATCHDOG_OUTCOME in seen.facts:
                self._write_outcome(seen)
            elif semconv.WATCHDOG_TIER in seen.facts:
                self._write_correction(seen)
            with self._drained:
                if self._waiting and self._waiting[0] is seen:
                    self._waiting.popleft()
                self._drained.notify_all()

    def _write_correction(self, seen: _Seen) -> None:
        facts = seen.facts
        observed = facts.get(semconv.WATCHDOG_MODE) == Mode.OBSERVE.label
        suffix = "-observed" if observed else ""
        reason = facts.get(semconv.GEN_AI_EVALUATION_EXPLANATION)
        tier, detector = facts[semconv.WATCHDOG_TIER_NAME], facts[semconv.WATCHDOG_DETECTOR_NAME]
        self._score(seen, f"{semconv.WATCHDOG_TIER}{suffix}", tier, "CATEGORICAL", reason)
        self._score(seen, f"{semconv.SCORE_DETECTOR}{suffix}", detector, "CATEGORICAL", None)
        if observed:
            return
        maxima = self._traces.setdefault(seen.trace_id, [0, 0])
        self._traces.move_to_end(seen.trace_id)
        if len(self._traces) > _MAX_TRACES:
            self._traces.popitem(last=False)
        maxima[0] = max(maxima[0], facts[semconv.WATCHDOG_TIER])
        maxima[1] += 1
        for name, value in zip(_OF_TRACES, maxima, strict=True):
            self._langfuse.create_score(
                name=name,
                value=value,
                data_type="NUMERIC",
                trace_id=seen.trace_id,
                score_id=f"{seen.trace_id}-{name}",
            )

    def _write_outcome(self, seen: _Seen) -> None:
        outcome = seen.facts[semconv.WATCHDOG_OUTCOME]
        if outcome == "unknown":
            return
        said = seen.facts.get(semconv.GEN_AI_EVALUATION_EXPLANATION) or outcome
        self._score(seen, semconv.EVALUATION_HEEDED, int(outcome == "heeded"), "BOOLEAN", said)
        turns = seen.facts.get(semconv.WATCHDOG_TURNS_TO_HEED)
        if turns is not None:
            self._score(seen, semconv.WATCHDOG_TURNS_TO_HEED, turns, "NUMERIC", None)

    def _score(
        self, seen: _Seen, name: str, value: str | int, kind: str, comment: str | None
    ) -> None:
        correction = seen.facts[semconv.WATCHDOG_CORRECTION_ID]
        self._langfuse.create_score(
            name=name,
            value=value,
            data_type=kind,
            trace_id=seen.trace_id,
            observation_id=seen.observation_id,
            score_id=f"{correction}-{name}",
            comment=comment,
        )
