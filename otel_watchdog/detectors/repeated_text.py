"""Finds an agent that says the same thing again and again, with nothing new in between."""

from typing import ClassVar, NamedTuple

from otel_watchdog.evidence.likeness import overlap, words_of
from otel_watchdog.evidence.masks import mask
from otel_watchdog.evidence.recent import add
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

ALIKE = 0.85
MIN_ALIKE_CHARS = 40
MIN_WORDS = 4
MAX_CHARS = 4000


class _Said(NamedTuple):
    text: str
    words: frozenset[str]
    news: tuple[int, int]
    """How many results were new, and how many changes were made, until then."""


class RepeatedText:
    """Fires when `threshold` of the last `window_texts` messages say the same, and nothing is new.

    The same are texts that are equal but for clocks and ids, or long ones with nearly all words in
    common. A result never seen before and a change never made before make them another matter:
    "running the next test" may be said before each test, "running it again" after each edit. A text
    of less than four words counts only where no call lies between. What is thought counts where
    nothing is said. A word of the user clears all.

    Severity is warn: words are not deeds.

    Known false positive: a form letter that is sent to one person after the other by text.

    Thresholds: 3 finds 7 of 92 stuck real runs and no other, 2 finds 8; a share of words of 0.7
    takes the templates of an orchestrator for a loop.

    Args:
        threshold: Messages that fire, at least 2.
        window_texts: Messages that are looked at.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = ("_said", "_since_call", "_threshold", "_told", "_window_texts")

    name: ClassVar[str] = "repeated_text"
    watches: ClassVar[tuple[type[Observation], ...]] = (ModelTurn, ToolCall, UserMessage)
    needs: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, *, threshold: int = 3, window_texts: int = 6) -> None:
        check_thresholds(self.name, threshold)
        check_thresholds(self.name, window_texts, minimum=threshold, option="window_texts")
        self._threshold = threshold
        self._window_texts = window_texts
        self._said: list[_Said] = []
        self._since_call = 0
        self._told: str | None = None

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:
        """See `Detector.observe`."""
        if type(observation) is ModelTurn:
            text = (observation.text or observation.reasoning or "").strip()
            news = (progress.news, progress.epoch)
            return self._judge(text[:MAX_CHARS], news) if text else None
        if type(observation) is ToolCall:
            self._since_call = 0
        elif type(observation) is UserMessage and not is_ours(observation):
            self._said.clear()
            self._told = None
        return None

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._said.clear()
        self._told = None

    def _judge(self, text: str, news: tuple[int, int]) -> Finding | None:
        said = _Said(mask(text), words_of(text), news)
        self._since_call += 1
        times = 1
        for other in self._said:
            if other.news != news:
                continue
            if other.text == said.text or (
                len(text) > MIN_ALIKE_CHARS and overlap(said.words, other.words) >= ALIKE
            ):
                times += 1
        add(self._said, said, self._window_texts)
        if times < self._threshold:
            return None
        is_short = len(text.split()) < MIN_WORDS
        if is_short and self._since_call <= self._threshold - 1:
            return None
        if self._told == said.text:
            return None
        self._told = said.text
        return self._finding(text, times)

    def _finding(self, text: str, times: int) -> Finding:
        quoted = shortened(" ".join(text.split()), 120)
        return Finding(
            detector=self.name,
            kind=Kind.THOUGHT_REPETITION,
            severity=Severity.WARN,
            reason=f"the same was said {times} times with nothing new in between: {quoted}",
            guidance=(
                f"You have said the same {times} times, and nothing new has come in between: "
                f'"{quoted}". Do it now with a tool call, or say what keeps you from it.'
            ),
            evidence={"text": quoted, "count": times},
        )
