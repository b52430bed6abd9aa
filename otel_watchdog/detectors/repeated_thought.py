"""Finds an agent whose thoughts go in a circle."""

import re
from collections import deque
from typing import ClassVar, Final, NamedTuple

from otel_watchdog.errors import ConfigError
from otel_watchdog.evidence.likeness import STOP_WORDS, overlap, words_of
from otel_watchdog.evidence.tallies import check_thresholds
from otel_watchdog.model import Finding, Kind, ModelTurn, Observation, RunStarted, Severity
from otel_watchdog.progress import Progress
from otel_watchdog.wording import shortened

STRICT_SHARE = 0.8
LOOSE_SHARE = 0.5
MIN_SENTENCE_CHARS = 20
ARMED_SENTENCES = 10
MIN_SEGMENT_CHARS = 60
KNOWN_SEGMENTS = 8
NEW_SHARE = 0.2
MAX_CHARS = 20_000

_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_ANCHOR: Final = re.compile(
    r"`[^`]+`|[\w./-]*/[\w./-]+|\b\w+\.\w{1,4}\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*"
)


class _Sentence(NamedTuple):
    words: frozenset[str]
    content: frozenset[str]


class RepeatedThought:
    """Fires when sentences come back: nearly the same `strict`, or reworded `loose` times.

    Nearly the same have eight words in ten in common, reworded ones half of those that say
    something. Read is what is thought, else what is said. Also `stale` paragraphs in a row with
    hardly a new word and no new path, name or piece of code fire: true rewording shares few words.
    Short sentences do not count, and nothing fires before ten were seen. A new run begins anew.

    Severity is warn: thinking aloud goes back and forth.

    Known false positive: a list of checks that are told in one form of words.

    Thresholds: 4 and 6 of 50 sentences are the rule of a watchdog inside a harness; 8 paragraphs
    are one more than the longest honest row in half a million that a coding agent's makers read.

    Args:
        strict: Sentences nearly the same that fire, at least 2.
        loose: Reworded sentences that fire, above `strict`.
        stale: Paragraphs in a row without anything new that fire, at least 2.
        window_sentences: Sentences that are looked at, at least `loose`.

    Raises:
        ConfigError: An option is out of its bounds.
    """

    __slots__ = (
        "_anchors",
        "_heard",
        "_is_told",
        "_length",
        "_loose",
        "_said",
        "_segments",
        "_stale",
        "_strict",
        "_window_sentences",
    )

    name: ClassVar[str] = "repeated_thought"
    watches: ClassVar[tuple[type[Observation], ...]] = (ModelTurn, RunStarted)
    needs: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(
        self, *, strict: int = 4, loose: int = 6, stale: int = 8, window_sentences: int = 50
    ) -> None:
        check_thresholds(self.name, strict, option="strict")
        check_thresholds(self.name, stale, option="stale")
        if loose <= strict:
            raise ConfigError(f"{self.name}.loose must be above strict ({strict}), got {loose!r}")
        check_thresholds(self.name, window_sentences, minimum=loose, option="window_sentences")
        self._strict = strict
        self._loose = loose
        self._stale = stale
        self._window_sentences = window_sentences
        self.restart()

    def observe(self, observation: Observation, progress: Progress) -> Finding | None:  # noqa: ARG002 - the text says it all
        """See `Detector.observe`."""
        if type(observation) is not ModelTurn:
            self.restart()
            return None
        text = (observation.reasoning or observation.text or "")[:MAX_CHARS]
        found: Finding | None = None
        for match in _SENTENCE.finditer(text):
            sentence = match[0].strip()
            if len(sentence) >= MIN_SENTENCE_CHARS:
                found = self._hear(sentence) or found
        for part in text.split("\n\n"):
            if len(part) >= MIN_SEGMENT_CHARS:
                found = self._weigh(part) or found
        return found

    def restart(self) -> None:
        """See `Detector.restart`."""
        self._said: deque[_Sentence] = deque(maxlen=self._window_sentences)
        self._heard = 0
        self._segments: deque[frozenset[str]] = deque(maxlen=KNOWN_SEGMENTS)
        self._anchors: dict[str, None] = {}
        self._length = 0
        self._is_told = False

    def _hear(self, sentence: str) -> Finding | None:
        words = words_of(sentence)
        new = _Sentence(words, words - STOP_WORDS)
        strict = 1 + sum(overlap(words, one.words) >= STRICT_SHARE for one in self._said)
        loose = 1 + sum(overlap(new.content, one.content) >= LOOSE_SHARE for one in self._said)
        self._said.append(new)
        self._heard += 1
        if self._is_told or self._heard < ARMED_SENTENCES:
            return None
        if strict >= self._strict:
            return self._finding(sentence, strict, "nearly the same")
        return self._finding(sentence, loose, "the same reworded") if loose >= self._loose else None

    def _weigh(self, segment: str) -> Finding | None:
        words = words_of(segment)
        known = frozenset[str]().union(*self._segments)
        anchors = {anchor for anchor in _ANCHOR.findall(segment) if anchor not in self._anchors}
        full = len(self._segments) == KNOWN_SEGMENTS
        self._segments.append(words)
        self._anchors.update(dict.fromkeys(anchors))
        while len(self._anchors) > 10 * self._window_sentences:
            del self._anchors[next(iter(self._anchors))]
        is_stale = full and not anchors and len(words - known) <= NEW_SHARE * len(words)
        self._length = self._length + 1 if is_stale else 0
        if self._is_told or self._length < self._stale:
            return None
        return self._finding(segment, self._length, "nothing new")

    def _finding(self, text: str, times: int, what: str) -> Finding:
        self._is_told = True
        quoted = shortened(" ".join(text.split()), 120)
        return Finding(
            detector=self.name,
            kind=Kind.THOUGHT_REPETITION,
            severity=Severity.WARN,
            reason=f"{what} was thought {times} times: {quoted}",
            guidance=(
                f'You have come back to one thought {times} times: "{quoted}". Take it as settled, '
                "say what follows from it, and take the next step."
            ),
            evidence={"text": quoted, "count": times},
        )
