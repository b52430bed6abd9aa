"""The texts that are put before an agent: what was seen, one way out, then on with the task."""

import dataclasses
from typing import Final, NamedTuple, Protocol

from otel_watchdog.model import MARKER, Correction, Finding, Kind, Tier
from otel_watchdog.redaction import redacted

OPENING: Final = (
    f"{MARKER} An automated observer read your last turns; this is not from the user, who does "
    "not see it."
)

ADVICE: Final = {
    Tier.NUDGE: "Change one thing before you try again, then continue the task.",
    Tier.REDIRECT: (
        "The approach does not work. Say in one sentence why, take a different one, "
        "then continue the task."
    ),
    Tier.FORCE_WRAP: (
        "Stop probing. Deliver what you have now, and say plainly what is missing and why."
    ),
    Tier.HARD_STOP: "Deliver what you have now; only turns that finish it are left.",
    Tier.TERMINATE: "This run is being ended. Hand over what you have in your next answer.",
}

FINISHED: Final = {
    Tier.NUDGE: "You are finished: hand over what you have, and say nothing more.",
    Tier.REDIRECT: "The work is done. Give your result now as your last answer, and stop.",
    Tier.FORCE_WRAP: "You are finished. Hand over; nothing that follows is read.",
    Tier.HARD_STOP: "You are finished: hand over now; only turns for that are left.",
    Tier.TERMINATE: "This run is being ended. Hand over what you have in your next answer.",
}
"""Advice to who is done and goes on: there is no loop to get out of."""

LOCKED_OUT: Final = {
    Tier.NUDGE: (
        "Signing in is not yours to mend: say so, and continue the task without it, or stop."
    ),
    Tier.REDIRECT: (
        "Access is still refused. Do not call it again: say who must grant what, and go on with "
        "what needs no access, or stop."
    ),
    Tier.FORCE_WRAP: (
        "Signing in is not yours to mend. Hand over what you have, say which access is missing, "
        "and stop."
    ),
    Tier.HARD_STOP: "Hand over what you have, and say which access is missing.",
    Tier.TERMINATE: (
        "This run is being ended. Say in your next answer which access is missing, and hand over "
        "what you have."
    ),
}
"""Advice to who is refused: no attempt of its own will help."""

_ADVICE_FOR: Final = {Kind.DONE_BUT_CONTINUING: FINISHED, Kind.AUTH: LOCKED_OUT}

_LEFT = {0: "No turn is left after this one.", 1: "At most 1 turn is left."}

_MARGIN = 4096
"""Characters at each end that are searched for secrets; a text may be megabytes long."""


class Worded(NamedTuple):
    """The message of a correction, and where its text is kept, if outside of this package."""

    message: str
    prompt: str | None = None
    """Name of the prompt it was made of."""
    version: int | None = None
    """Version of the prompt."""


class Wording(Protocol):
    """Finds the words for a correction; returns at once, as it is asked on the agent's thread."""

    def __call__(self, finding: Finding, tier: Tier, *, turns_left: int | None) -> Worded:
        """Return the message for a finding at a tier; it opens with `MARKER`."""
        ...


def built_in(finding: Finding, tier: Tier, *, turns_left: int | None) -> Worded:
    """Return the message that this package has; see `message`."""
    return Worded(message(finding, tier, turns_left=turns_left))


def worded(correction: Correction, wording: Wording) -> Correction:
    """Return a correction with its message."""
    cap = correction.max_turns
    turns_left = None if cap is None else max(0, cap - correction.turn)
    said = wording(correction.finding, correction.tier, turns_left=turns_left)
    return dataclasses.replace(
        correction, message=said.message, prompt=said.prompt, prompt_version=said.version
    )


def left(turns: int) -> str:
    """Say how many turns are left."""
    return _LEFT.get(turns, f"At most {turns} turns are left.")


def message(finding: Finding, tier: Tier, *, turns_left: int | None = None) -> str:
    """Return the message that corrects what was found, at the tier's strength.

    Args:
        finding: The finding that speaks.
        tier: The rung of the ladder.
        turns_left: Turns until the cap, where there is one.
    """
    advice = _ADVICE_FOR.get(finding.kind, ADVICE)
    parts = [OPENING, finding.guidance, advice[tier]]
    if turns_left is not None:
        parts.append(left(turns_left))
    return " ".join(parts)


def shortened(text: str, max_chars: int = 200) -> str:
    """Return `text` with its middle cut out where it is longer than `max_chars`.

    Secrets are taken out before the cut, which may take away what they are known by.

    >>> shortened("abcdefghij", 5)
    'ab…ij'
    """
    if len(text) <= max_chars:
        return text
    if len(text) > 2 * _MARGIN:
        text = f"{text[:_MARGIN]}…{text[-_MARGIN:]}"
    text = redacted(text)
    if len(text) <= max_chars:
        return text
    head = max_chars // 2
    return f"{text[:head]}…{text[len(text) - (max_chars - head - 1) :]}"
