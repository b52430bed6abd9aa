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
        tier: The decision's tier.
        mode: What may be done.
        category: The agent's, and how it is known.
    """
    return Correction(
        id=uuid.uuid4().hex,
        session=session,
        run=memory.run,
        agent=memory.agent,
        turn=memory.turn,
        n=decision.n,
        tier=tier,
        mode=mode,
        findings=tuple(findings),
        message="",
        max_turns=decision.max_turns,
        category=category[0],
        category_from=category[1],
    )
