"""What the watchdog's spans carry, so that review tools show them as what they are."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from opentelemetry.util.types import AttributeValue

from otel_watchdog import semconv
from otel_watchdog.drift_checks import DriftCheck
from otel_watchdog.model import Correction, CorrectionOutcome, Mode, Outcome, Tier
from otel_watchdog.questions import Approval
from otel_watchdog.redaction import redacted

MAX_CHECK_TEXT: Final = 16_384
"""Characters of a judge's prompt, and of its answer, that are written down."""

_HEEDED: Final = {
    CorrectionOutcome.HEEDED: 1.0,
    CorrectionOutcome.IGNORED: 0.0,
    CorrectionOutcome.RELAPSED: 0.0,
}

_LEVELS: Final = {Tier.NUDGE: "WARNING", Tier.REDIRECT: "WARNING"}


def correction_attributes(correction: Correction) -> dict[str, AttributeValue]:
    """Return the attributes of a correction's span, but for those copied from the judged one."""
    finding = correction.finding
    given = orjson.dumps(_input(correction)).decode()
    return {
        **_shown(facts_of(correction), correction.agent),
        semconv.LANGFUSE_OBSERVATION_TYPE: "guardrail",
        semconv.LANGFUSE_OBSERVATION_LEVEL: _level(correction),
        semconv.LANGFUSE_OBSERVATION_STATUS_MESSAGE: (
            f"{finding.detector}: {finding.reason} (tier {correction.tier:d} "
            f"{correction.tier.label})"
        ),
        semconv.LANGFUSE_OBSERVATION_INPUT: given,
        semconv.LANGFUSE_OBSERVATION_OUTPUT: correction.message,
        semconv.OPENINFERENCE_SPAN_KIND: "GUARDRAIL",
        semconv.INPUT_VALUE: given,
        semconv.INPUT_MIME_TYPE: "application/json",
        semconv.OUTPUT_VALUE: correction.message,
        semconv.OUTPUT_MIME_TYPE: "text/plain",
        semconv.GEN_AI_EVALUATION_NAME: f"watchdog.{finding.detector}",
        semconv.GEN_AI_EVALUATION_SCORE_LABEL: correction.tier.label,
        semconv.GEN_AI_EVALUATION_EXPLANATION: finding.reason,
    }


def outcome_attributes(outcome: Outcome) -> dict[str, AttributeValue]:
    """Return the attributes of an outcome's span, but for those copied from the judged one."""
    correction, label = outcome.correction, outcome.outcome.value
    facts = facts_of(correction) | {
        semconv.WATCHDOG_OUTCOME: label,
        semconv.WATCHDOG_TURN: outcome.turn,
    }
    if outcome.turns_to_heed is not None:
        facts[semconv.WATCHDOG_TURNS_TO_HEED] = outcome.turns_to_heed
    score = _HEEDED.get(outcome.outcome)
    given = orjson.dumps(
        {"correction": correction.span_name, "reason": correction.finding.reason}
    ).decode()
    said = f"{label}: {outcome.response}"
    return {
        **_shown(facts, correction.agent),
        semconv.LANGFUSE_OBSERVATION_TYPE: "evaluator",
        semconv.LANGFUSE_OBSERVATION_LEVEL: "DEFAULT" if score is None or score else "WARNING",
        semconv.LANGFUSE_OBSERVATION_STATUS_MESSAGE: said,
        semconv.LANGFUSE_OBSERVATION_INPUT: given,
        semconv.LANGFUSE_OBSERVATION_OUTPUT: said,
        semconv.OPENINFERENCE_SPAN_KIND: "EVALUATOR",
        semconv.INPUT_VALUE: given,
        semconv.INPUT_MIME_TYPE: "application/json",
        semconv.OUTPUT_VALUE: said,
        semconv.OUTPUT_MIME_TYPE: "text/plain",
        semconv.GEN_AI_EVALUATION_NAME: semconv.EVALUATION_HEEDED,
        semconv.GEN_AI_EVALUATION_SCORE_LABEL: label,
        semconv.GEN_AI_EVALUATION_EXPLANATION: outcome.response,
        **({} if score is None else {semconv.GEN_AI_EVALUATION_SCORE_VALUE: score}),
    }


def check_attributes(check: DriftCheck) -> dict[str, AttributeValue]:
    """Return the attributes of a drift check's span, but for those copied from the judged one.

    It is a model call and has its cost, in the terms of OpenTelemetry and of OpenInference; the
    texts are redacted.
    """
    asked, answer, reason = _said(check.prompt), _said(check.answer), _said(check.reason)
    messages = [_message("system", _said(check.instructions)), _message("user", asked)]
    answers = [{**_message("assistant", answer), "finish_reason": "stop"}] if answer else []
    attributes: dict[str, AttributeValue | None] = {
        **_shown(_facts_of_check(check), check.agent),
        semconv.GEN_AI_OPERATION_NAME: "chat",
        semconv.GEN_AI_PROVIDER_NAME: check.provider,
        semconv.GEN_AI_REQUEST_MODEL: check.model,
        semconv.GEN_AI_USAGE_INPUT_TOKENS: check.input_tokens,
        semconv.GEN_AI_USAGE_OUTPUT_TOKENS: check.output_tokens,
        semconv.GEN_AI_USAGE_COST: check.cost_usd,
        semconv.GEN_AI_INPUT_MESSAGES: orjson.dumps(messages).decode(),
        semconv.GEN_AI_OUTPUT_MESSAGES: orjson.dumps(answers).decode(),
        semconv.OPENINFERENCE_SPAN_KIND: "LLM",
        semconv.LLM_MODEL_NAME: check.model,
        semconv.LLM_TOKEN_COUNT_PROMPT: check.input_tokens,
        semconv.LLM_TOKEN_COUNT_COMPLETION: check.output_tokens,
        semconv.LLM_COST_TOTAL: check.cost_usd,
        semconv.INPUT_VALUE: asked,
        semconv.INPUT_MIME_TYPE: "text/plain",
        semconv.OUTPUT_VALUE: answer,
        semconv.OUTPUT_MIME_TYPE: "text/plain",
        semconv.LANGFUSE_OBSERVATION_LEVEL: "WARNING" if check.error else "DEFAULT",
        semconv.LANGFUSE_OBSERVATION_STATUS_MESSAGE: f"{check.verdict}: {reason}",
        semconv.LANGFUSE_PROMPT_NAME: check.prompt_name,
        semconv.LANGFUSE_PROMPT_VERSION: check.prompt_version,
        semconv.GEN_AI_EVALUATION_NAME: semconv.EVALUATION_DRIFT,
        semconv.GEN_AI_EVALUATION_SCORE_LABEL: check.verdict,
        semconv.GEN_AI_EVALUATION_EXPLANATION: reason,
        semconv.GEN_AI_AGENT_NAME: check.agent,
        semconv.ERROR_TYPE: check.error,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def delivery_attributes(correction: Correction, seconds: float) -> dict[str, AttributeValue]:
    """Return the attributes of the span that says a correction has reached its agent.

    The tier's number is not among them: by it, corrections are told from what follows them.

    Args:
        correction: It.
        seconds: From the decision until then.
    """
    facts = facts_of(correction) | {semconv.WATCHDOG_DELIVERY_SECONDS: round(seconds, 6)}
    del facts[semconv.WATCHDOG_TIER]
    return {
        **_shown(facts, correction.agent),
        semconv.LANGFUSE_OBSERVATION_TYPE: "event",
        semconv.LANGFUSE_OBSERVATION_OUTPUT: correction.message,
        semconv.OPENINFERENCE_SPAN_KIND: "CHAIN",
        semconv.OUTPUT_VALUE: correction.message,
        semconv.OUTPUT_MIME_TYPE: "text/plain",
        semconv.GEN_AI_EVALUATION_NAME: f"watchdog.{correction.finding.detector}",
    }


def approval_attributes(approval: Approval) -> dict[str, AttributeValue]:
    """Return who allowed what, and for how long."""
    facts: dict[str, AttributeValue | None] = {
        semconv.WATCHDOG_APPROVAL_STEP: approval.step,
        semconv.WATCHDOG_APPROVAL_SCOPE: approval.scope.value if approval.scope else None,
        semconv.WATCHDOG_APPROVAL_MAX_TIMES: approval.max_times,
        semconv.WATCHDOG_APPROVAL_SECONDS: approval.seconds,
        semconv.WATCHDOG_APPROVAL_BY: approval.by or None,
        semconv.WATCHDOG_SESSION: approval.session,
        semconv.WATCHDOG_TURN: approval.turn,
        semconv.WATCHDOG_TIER_NAME: approval.tier.label,
        semconv.WATCHDOG_DETECTOR_NAME: approval.finding.detector,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _facts_of_check(check: DriftCheck) -> dict[str, AttributeValue]:
    facts: dict[str, AttributeValue] = {
        semconv.WATCHDOG_VERDICT: check.verdict,
        semconv.WATCHDOG_SESSION: check.session,
        semconv.WATCHDOG_TURN: check.turn,
    }
    if check.confidence is not None:
        facts[semconv.WATCHDOG_CONFIDENCE] = check.confidence
    return facts


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _said(text: str) -> str:
    """Return a judge's text as it may leave the process."""
    return redacted(text)[:MAX_CHECK_TEXT]


def _shown(facts: dict[str, AttributeValue], agent: str | None = None) -> dict[str, AttributeValue]:
    """Return facts, and once more, with the agent, as metadata by which they can be filtered."""
    prefix = semconv.LANGFUSE_OBSERVATION_METADATA
    shown = facts if agent is None else {**facts, semconv.GEN_AI_AGENT_NAME: agent}
    return {**facts, **{f"{prefix}.{name}": value for name, value in shown.items()}}


def copied(judged: Mapping[str, Any]) -> dict[str, Any]:
    """Return who and where a judged span is, by which its correction is found, too."""
    return {
        key: value
        for key, value in judged.items()
        if key in semconv.COPIED or key.startswith(semconv.COPIED_PREFIXES)
    }


def _level(correction: Correction) -> str:
    if correction.mode is Mode.OBSERVE:
        return "DEFAULT"
    return _LEVELS.get(correction.tier, "ERROR")


def facts_of(correction: Correction) -> dict[str, AttributeValue]:
    """Return what is known of a correction, as attributes of spans, events and logs."""
    facts: dict[str, AttributeValue] = {
        semconv.WATCHDOG_DETECTOR_NAME: correction.finding.detector,
        semconv.WATCHDOG_KIND: correction.finding.kind.value,
        semconv.WATCHDOG_SEVERITY: correction.finding.severity.value,
        semconv.WATCHDOG_TIER: int(correction.tier),
        semconv.WATCHDOG_TIER_NAME: correction.tier.label,
        semconv.WATCHDOG_TURN: correction.turn,
        semconv.WATCHDOG_MODE: correction.mode.label,
        semconv.WATCHDOG_SESSION: correction.session,
        semconv.WATCHDOG_CORRECTION_ID: correction.id,
        semconv.WATCHDOG_CORRECTION_N: correction.n,
    }
    if correction.max_turns is not None:
        facts[semconv.WATCHDOG_MAX_TURNS] = correction.max_turns
    if correction.category is not None and correction.category_from is not None:
        facts[semconv.WATCHDOG_CATEGORY] = correction.category
        facts[semconv.WATCHDOG_CATEGORY_FROM] = correction.category_from
    if correction.prompt is not None:
        facts[semconv.WATCHDOG_PROMPT_NAME] = correction.prompt
        facts[semconv.WATCHDOG_PROMPT_VERSION] = correction.prompt_version or 0
    return facts


def _input(correction: Correction) -> dict[str, Any]:
    """Say what fired, the essential first: list views of review tools cut it short."""
    finding, *others = correction.findings
    return {
        "detector": finding.detector,
        "reason": finding.reason,
        "turn": correction.turn,
        "tier": correction.tier.label,
        "evidence": dict(finding.evidence),
        "also": [f"{other.detector}: {other.reason}" for other in others],
    }
