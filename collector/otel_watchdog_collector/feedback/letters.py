"""A letter as an agent's process gets it."""

from typing import Any

import orjson

from otel_watchdog_collector.facts import Letter


def document(letter: Letter) -> dict[str, Any]:
    """Return a letter as JSON would have it."""
    correction = letter.correction
    finding = correction.finding
    return {
        "seq": letter.seq,
        "id": letter.id,
        "leased": letter.leased,
        "session": correction.session,
        "run": correction.run,
        "agent": correction.agent,
        "turn": correction.turn,
        "n": correction.n,
        "tier": int(correction.tier),
        "tier_name": correction.tier.label,
        "mode": correction.mode.label,
        "message": correction.message,
        "max_turns": correction.max_turns,
        "sent_at": letter.sent_at,
        "findings": [
            {
                "detector": finding.detector,
                "kind": finding.kind.value,
                "severity": finding.severity.value,
                "reason": finding.reason,
                "guidance": finding.guidance,
                "evidence": dict(finding.evidence),
            }
            for finding in (finding, *correction.findings[1:])
        ],
    }


def event(letter: Letter) -> bytes:
    """Return a letter as a server-sent event.

    Its id is the letter's number: a stream goes on after the last one that was seen.
    """
    body = orjson.dumps(document(letter))
    return b"id: %d\nevent: correction\ndata: %s\n\n" % (letter.seq, body)
