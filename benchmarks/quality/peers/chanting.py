"""The rule against chanting that Gemini CLI and Qwen Code share, written anew.

A piece of 50 characters that comes 10 times, close to one another, within the text since the last
tool call. Tables, lists, headings, quotations and fences begin anew; code is not looked at.
"""

import re
from itertools import pairwise

CHUNK = 50
TIMES = 10
MARKUP = re.compile(r"\s*(```|\||[+-]{3,}|[*+-]\s|\d+\.\s|#+\s|>\s)")


class Chanting:
    """Looks for chanting in the text since the last tool call.

    Args:
        max_history: Characters that are kept.
        max_distance: Characters between two of the pieces, on average.
        max_periods: Different texts between them, at most; `None`: any number.
    """

    def __init__(self, *, max_history: int, max_distance: float, max_periods: int | None) -> None:
        self._max_history = max_history
        self._max_distance = max_distance
        self._max_periods = max_periods
        self._is_code = False
        self.reset()

    def reset(self) -> None:
        """Begin anew, as a tool was called or the user spoke."""
        self._text = ""
        self._start = 0
        """Where the text that is kept begins, in all that was said."""
        self._next = 0
        self._places: dict[str, list[int]] = {}

    def hears(self, message: str) -> bool:
        """Return whether the text chants now, with this message."""
        found = [self._hears_line(line) for line in message.splitlines(keepends=True)]
        return any(found)

    def _hears_line(self, line: str) -> bool:
        if MARKUP.match(line):
            self.reset()
        was_code = self._is_code
        self._is_code ^= line.count("```") % 2 == 1
        if was_code or self._is_code:
            return False
        self._text += line
        surplus = max(0, len(self._text) - self._max_history)
        self._text = self._text[surplus:]
        self._start += surplus
        self._next = max(self._next, self._start)
        return self._finds_pieces()

    def _finds_pieces(self) -> bool:
        found = False
        while self._next + CHUNK <= self._start + len(self._text):
            place = self._next
            self._next += 1
            piece = self._between(place, place + CHUNK)
            places = self._places.setdefault(piece, [])
            places.append(place)
            kept = [one for one in places[-TIMES:] if one >= self._start]
            found = found or (len(kept) == TIMES and self._is_close(kept))
        return found

    def _is_close(self, places: list[int]) -> bool:
        if (places[-1] - places[0]) / (TIMES - 1) > self._max_distance:
            return False
        between = {self._between(a, b) for a, b in pairwise(places)}
        return self._max_periods is None or len(between) <= self._max_periods

    def _between(self, begin: int, end: int) -> str:
        return self._text[begin - self._start : end - self._start]
