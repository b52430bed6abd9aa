"""Finds an agent that has said it is finished and goes on talking."""

import re
from typing import ClassVar

from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import (
    Finding,
    Kind,
    ModelTurn,
    Observation,
    Severity,
    ToolCall,
    UserMessage,
)
from otel_watchdog.progress import Progress, is_ours
from otel_watchdog.wording import shortened

MAX_CHARS = 160

_DONE = re.compile(
    r"(?i)\b(?:task (?:is )?(?:complete|done|finished)"
    r"|(?:is|are) (?:now )?(?:complete|finished|done)\b|all (?:is )?done|final (?:report|answer)"
    r"|exploration complete|work is complete"
    r"|successfully completed|completed successfully|aufgabe (?:ist )?(?:erledigt|fertig)"
    r"|t[aâ]che termin[ée]e|tarea (?:completada|terminada)|tarefa conclu[ií]da)"
    r"|任务已?完成|完了しました"
)
_CLOSING = re.compile(
    r"(?i)\b(?:done|completed?|finished|acknowledged|confirmed|understood|nothing|no (?:more )?work"
    r"|no more|no further|thanks?|thank you|welcome|pleasure|glad|happy to|great work|ready for"
    r"|goodbye|bye|unchanged|you too|fertig|erledigt|danke|bitte|gern|nichts|merci|de rien|rien"
    r"|termin[ée]|gracias|de nada|nada|listo|obrigad[oa]|pronto)\b|谢谢|不客气|完成|ありがとう|了解"
)


class DoneButContinuing:
    """Fires when an agent that has said it is done sends `threshold` closing phrases more.

    Counted are short messages of thanks, confirmation or "nothing left", without a call between. A
    call or a word of the user takes the agent back to work.

    Severity is warn: saying goodbye twice costs little.

    Known false positive: small talk with a person whose messages are not in the trace.

    Threshold: 3; 2 to 4 change nothing.

    Args:
        threshold: Closing messages that fire, at least 2.

    Raises:
        ConfigError: `threshold` is below 2.
    """

    __slots__ = ("_closings", "_threshold")

    name: ClassVar[str] = "done_but_continuing"
    watches: ClassVar[tuple[type[Observation], ...]] = (ModelTurn, ToolCall, UserMessage)
    needs: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, *, threshold: int = 3) -> None:
        check_thresholds(self.name, threshold)
        self._threshold = threshold
        self._closings: int | None = None

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the text says it all
        """See `Detector.observe`."""
        if type(observation) is not ModelTurn:
            if not (type(observation) is UserMessage and is_ours(observation)):
                self._closings = None
            return None
        text = (observation.text or "").strip()
        if not text or observation.tool_calls:
            return None
        if self._closings is None:
            if _DONE.search(text[-4 * MAX_CHARS :]):
                self._closings = 0
            return None
        if len(text) >= MAX_CHARS or not _CLOSING.search(text):
            return None
        self._closings += 1
        return self._finding(text) if self._closings == self._threshold else None

    def restart(self) -> None:
        """See `Detector.restart`."""
        if self._closings is not None:
            self._closings = 0

    def _finding(self, text: str) -> Finding:
        quoted = shortened(" ".join(text.split()), 120)
        return Finding(
            detector=self.name,
            kind=Kind.DONE_BUT_CONTINUING,
            severity=Severity.WARN,
            reason=f"the agent said it was done and sent {self._closings} closing messages more",
            guidance=(
                "You have said that you are finished, and nothing was asked of you since; you sent "
                f'{self._closings} closing messages more, the last: "{quoted}". Hand over and '
                "stop: do not confirm it again."
            ),
            evidence={"text": quoted, "count": self._closings or 0},
        )
