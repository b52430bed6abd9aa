"""Writes what the watchdog does: correction spans, drift checks, feedback events, metrics.

The shape of a correction span is what Langfuse, Phoenix and MLflow show best: a guardrail whose
input is what fired and whose output is the exact message. It has no tool, operation or model
attribute, which would turn it into something else there.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from opentelemetry import metrics
from opentelemetry._logs import LogRecord, get_logger
from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TracerProvider,
    set_span_in_context,
)
from opentelemetry.util.types import AttributeValue

from otel_watchdog import semconv
from otel_watchdog.clock import Clock, system_clock
from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.model import (
    Correction,
    Finding,
    Mode,
    Outcome,
    Suppressed,
    Tier,
)
from otel_watchdog.questions import Approval
from otel_watchdog.span_attributes import (
    approval_attributes,
    check_attributes,
    copied,
    correction_attributes,
    delivery_attributes,
    facts_of,
    outcome_attributes,
)
from otel_watchdog.vitals import Names

__all__ = [
    "Telemetry",
    "check_attributes",
    "copied",
    "correction_attributes",
    "outcome_attributes",
]

MAX_PLACES: Final = 512
"""Corrections whose place in the trace is remembered until their outcome is known."""

_WAITS: Final = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)
"""Bounds of histograms of waiting, in seconds."""

_TURNS: Final = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)


class _Place(NamedTuple):
    """Where a correction stands in its trace, so that its outcome can stand beside it."""

    span: SpanContext
    context: Context
    copied: Mapping[str, Any]
    made_at: float
    """On the clock."""

    def below(self) -> Context:
        """Return the context of what stands below the correction."""
        return set_span_in_context(NonRecordingSpan(self.span), self.context)


class Telemetry:
    """Writes into one tracer provider, and into the global meter and logger providers.

    Args:
        tracer_provider: Where correction spans go.
        version: Version of the instrumentation scope.
        clock: Times how long corrections wait for their agents.
    """

    def __init__(
        self, tracer_provider: TracerProvider, *, version: str, clock: Clock = system_clock
    ) -> None:
        self._clock = clock
        self._tracer = tracer_provider.get_tracer(semconv.SCOPE, version)
        self._logger = get_logger(semconv.SCOPE, version)
        meter = metrics.get_meter(semconv.SCOPE, version)
        self._corrections = meter.create_counter(semconv.METRIC_CORRECTIONS, unit="{correction}")
        self._findings = meter.create_counter(semconv.METRIC_FINDINGS, unit="{finding}")
        self._outcomes = meter.create_counter(semconv.METRIC_OUTCOMES, unit="{outcome}")
        self._turns_to_heed = meter.create_histogram(
            semconv.METRIC_TURNS_TO_HEED,
            unit="{turn}",
            explicit_bucket_boundaries_advisory=_TURNS,
        )
        self._delivered = meter.create_histogram(
            semconv.METRIC_FEEDBACK_DURATION,
            unit="s",
            explicit_bucket_boundaries_advisory=_WAITS,
        )
        self._suppressed = meter.create_counter(semconv.METRIC_SUPPRESSED, unit="{finding}")
        self._checks = meter.create_counter(semconv.METRIC_DRIFT_CHECKS, unit="{check}")
        self._skipped = meter.create_counter(semconv.METRIC_DRIFT_CHECKS_SKIPPED, unit="{check}")
        self._check_cost = meter.create_counter(semconv.METRIC_DRIFT_CHECK_COST, unit="{USD}")
        self._check_seconds = meter.create_histogram(semconv.METRIC_DRIFT_CHECK_DURATION, unit="s")
        self._names = Names()
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._errors = meter.create_counter(semconv.METRIC_INTERNAL_ERRORS, unit="{error}")

    def correct(self, correction: Correction, context: Context, judged: Mapping[str, Any]) -> None:
        """Record a correction as a span of its own, and that it is sent as an event.

        Args:
            correction: What was decided.
            context: The context in which the judged span began; the span's parent stands in it.
            judged: Attributes of the judged span and of those around it; who and where is taken
                over from them.
        """
        attributes = correction_attributes(correction)
        attributes.update(said := copied(judged))
        span = self._tracer.start_span(correction.span_name, context=context, attributes=attributes)
        _be_no_root(span)
        if correction.tier >= Tier.HARD_STOP and correction.mode is not Mode.OBSERVE:
            span.set_status(Status(StatusCode.ERROR, correction.finding.reason))
        if correction.mode > Mode.OBSERVE:
            span.add_event(semconv.FEEDBACK_EVENT, {semconv.WATCHDOG_CORRECTION_ID: correction.id})
        span.end()
        self._places[correction.id] = _Place(span.get_span_context(), context, said, self._clock())
        if len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)
        self._corrections.add(
            1, {semconv.WATCHDOG_MODE: correction.mode.label, **self._by(correction)}
        )
        if correction.mode > Mode.OBSERVE:
            self._tell(correction, context)

    def deliver(self, correction: Correction) -> None:
        """Record that its agent's model call has gone out with a correction, as a span below it.

        A correction whose place is forgotten leaves no trace of it.
        """
        place = self._places.get(correction.id)
        if place is None:
            return
        seconds = self._clock() - place.made_at
        span = self._tracer.start_span(
            semconv.DELIVERED,
            context=place.below(),
            attributes=delivery_attributes(correction, seconds) | dict(place.copied),
        )
        _be_no_root(span)
        span.end()
        self._delivered.record(seconds, {semconv.WATCHDOG_TIER_NAME: correction.tier.label})

    def check(
        self,
        check: DriftCheck,
        context: Context,
        judged: Mapping[str, Any],
        *,
        correction: str | None = None,
    ) -> None:
        """Record a drift check that is over, as a model call with its cost.

        Call it when it is known whether a correction came of it: then the span stands below that
        correction, whose cost it is; spans cannot be moved later. The judge's own call must not be
        traced by its framework as well: review tools would add up the cost twice.

        Args:
            check: What was asked and said.
            context: The context in which the judged span began, as for `correct`.
            judged: Attributes of the judged span and of those around it, as for `correct`.
            correction: Id of the correction that came of it; `None`: none did.
        """
        place = self._places.get(correction) if correction is not None else None
        if place is not None:
            context, judged = place.below(), place.copied
        span = self._tracer.start_span(
            semconv.DRIFT_CHECK,
            context=context,
            kind=SpanKind.CLIENT,
            attributes=check_attributes(check) | copied(judged),
            start_time=int(check.started_at * 1e9),
        )
        _be_no_root(span)
        span.end(end_time=int((check.started_at + check.seconds) * 1e9))
        by_verdict = {semconv.WATCHDOG_VERDICT: check.verdict}
        by_agent = {semconv.GEN_AI_AGENT_NAME: self._names[check.agent]}
        self._checks.add(1, by_verdict | by_agent)
        self._check_seconds.record(check.seconds, by_verdict)
        if check.cost_usd is not None:
            self._check_cost.add(check.cost_usd, by_agent)

    def skip_check(self, reason: str) -> None:
        """Count a drift check that was due and was not made.

        Args:
            reason: The limit that kept it, in a word, such as `run_budget`; one of a few.
        """
        self._skipped.add(1, {semconv.WATCHDOG_SUPPRESSED: reason})

    def record(self, fact: Finding | Outcome | Suppressed | Approval) -> None:
        """Count a finding, or one that was suppressed; record an outcome, also as a span."""
        if isinstance(fact, Outcome):
            self._conclude(fact)
        elif isinstance(fact, Approval):
            self._approve(fact)
        elif isinstance(fact, Suppressed):
            self._suppressed.add(
                1,
                {
                    semconv.WATCHDOG_SUPPRESSED: fact.reason,
                    semconv.WATCHDOG_DETECTOR_NAME: fact.finding.detector,
                },
            )
        else:
            self._findings.add(
                1,
                {
                    semconv.WATCHDOG_DETECTOR_NAME: fact.detector,
                    semconv.WATCHDOG_SEVERITY: fact.severity.value,
                },
            )

    def fail(self, place: str, error: Exception) -> None:
        """Count an internal error at `place`."""
        self._errors.add(
            1, {semconv.CODE_NAMESPACE: place, semconv.ERROR_TYPE: type(error).__name__}
        )

    def _approve(self, approval: Approval) -> None:
        """Write down a step of a question to a person: who allowed what, and for how long."""
        self._logger.emit(
            LogRecord(
                event_name=semconv.APPROVAL_EVENT,
                body=approval.finding.reason,
                attributes=approval_attributes(approval),
            )
        )

    def _conclude(self, outcome: Outcome) -> None:
        """Write the outcome beside its correction, which cannot be changed any more."""
        correction = outcome.correction
        by = self._by(correction)
        self._outcomes.add(1, {semconv.WATCHDOG_OUTCOME: outcome.outcome.value, **by})
        if outcome.turns_to_heed is not None:
            self._turns_to_heed.record(outcome.turns_to_heed, by)
        place = self._places.get(correction.id)
        if place is None:
            return  # without its place it would be a root, in whatever trace is current
        span = self._tracer.start_span(
            outcome.span_name,
            context=place.context,
            attributes=outcome_attributes(outcome) | dict(place.copied),
            links=[Link(place.span)],
        )
        _be_no_root(span)
        span.end()

    def _by(self, correction: Correction) -> dict[str, AttributeValue]:
        """Return what corrections and outcomes are counted by."""
        return {
            semconv.WATCHDOG_TIER_NAME: correction.tier.label,
            semconv.WATCHDOG_DETECTOR_NAME: correction.finding.detector,
            semconv.GEN_AI_AGENT_NAME: self._names[correction.agent],
        }

    def _tell(self, correction: Correction, context: Context) -> None:
        self._logger.emit(
            LogRecord(
                context=context,
                event_name=semconv.FEEDBACK_EVENT,
                body=correction.message,
                attributes=facts_of(correction),
            )
        )


def _be_no_root(span: Span) -> None:
    """Undo what Langfuse's processor writes on a span that begins after its parent ended."""
    attributes = getattr(span, "attributes", None)
    if attributes and attributes.get(semconv.LANGFUSE_IS_APP_ROOT):
        span.set_attribute(semconv.LANGFUSE_IS_APP_ROOT, value=False)
