"""From a policy's decision to the correction that carries it."""

import dataclasses
import uuid
from collections.abc import Sequence

from otel_watchdog.memory import Memory
from otel_watchdog.model import Correction, Finding, Mode, Tier
from otel_watchdog.policies import Decision
from otel_watchdog.redaction import redacted


def without_secrets(finding: Finding) -> Finding:
    """Return a finding whose texts hold no secrets; its key stays what it was."""
    return dataclasses.replace(
        finding,
        reason=redacted(finding.reason),
        guidance=redacted(finding.guidance),
        evidence={
            name: redacted(value) if isinstance(value, str) else value
            for name, value in finding.evidence.items()
        },
    )


def correction(  # noqa: PLR0913 - all that a correction says
    memory: Memory,
    session: str,
    findings: Sequence[Finding],
    *,
    decision: Decision,
    tier: Tier,
    mode: Mode,
    category: tuple[str, str],
) -> Correction:
    """Return the correction of a session's turn, still without its message.

    Args:
        memory: What is known of the session.
        session: Its key.
        findings: The strongest first.
        decision: The policy's.
        tier: The decision's tier; an opinion's goes no higher than it may, and caps no run.
        mode: What may be done.
        category: The agent's, and how it is known.
    """
    limit = findings[0].max_tier
    return Correction(
        id=uuid.uuid4().hex,
        session=session,
        run=memory.run,
        agent=memory.agent,
        turn=memory.turn,
        n=decision.n,
        tier=tier if limit is None else min(tier, limit),
        mode=mode,
        findings=tuple(findings),
        message="",
        max_turns=decision.max_turns if limit is None else None,
        category=category[0],
        category_from=category[1],
    )
