"""Takes out of results what changes by itself: clocks, request ids, echoed arguments.

Percentages, counts and plain numbers stay: a number that moves is news.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import xxhash

from otel_watchdog.evidence.shell import listed

EDGE_CHARS: Final = 4096
"""Characters at each end of a long result that are masked; what is between counts as it is."""

PLACE: Final = "~"
"""Stands where something volatile was."""

# Each pattern opens with a set of characters, which is what makes a search fast; what must not
# stand before it is looked at second.
_FROM_DIGIT: Final = re.compile(
    r"[0-9](?<![\w.].)(?<![0-9a-fA-F]-.)(?:"
    r"\d{3}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d?:\d\d:\d\d(?:[.,]\d+)?(?:\s?[AaPp][Mm])?"
    r"|[0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?<=0)x[0-9a-fA-F]{6,}\b"
    r"|(?=\d*[a-fA-F])[0-9a-fA-F]{6,}(?:-[0-9a-fA-F]{4,})*\b"
    r"|(?<=1)[5-9]\d{8}(?:\.\d+|\d{3}(?:\d{3})?)?\b"
    r"|\d*(?:\.\d+)?\s?(?:ms|µs|us|ns|s|secs?|seconds?|min|minutes?|Sekunden|secondes"
    r"|segundos)\b"
    r")"
)
"""Times, clocks, uuids, addresses, hexadecimal ids, seconds since 1970, durations."""

_FROM_LETTER: Final = re.compile(
    r"[a-fA-F](?<![\w.].)(?<![0-9a-fA-F]-.)(?:[0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?=[a-fA-F]*\d)[0-9a-fA-F]{6,}(?:-[0-9a-fA-F]{4,})*\b)"
)
"""Uuids and hexadecimal ids that open with a letter."""

_DATE: Final = re.compile(
    r"[A-Z](?<!\w.)[a-z]{2},? (?:[A-Z][a-z]{2} )?\d{1,2},? (?:[A-Z][a-z]{2} )?(?:\d{4} )?"
    r"\d{1,2}:\d\d(?::\d\d)?"
)
_LABEL = (
    r"(?:x[-_ ])?(?:pid|port|req|request|trace|span|correlation|session|transaction|message|msg"
    r"|call|run|nonce|id)(?:[-_ ]?(?:id|no|number))?"
)
_LABELLED: Final = re.compile(
    rf"(?<!\w)(?i:{_LABEL})[\"']?\s*[=:#]\s*[\"']?(?=[\w-]*\d)(?:[A-Za-z]+[-_])?[\w-]{{5,}}"
)
_LABEL_HINT: Final = re.compile(r"[nprstN](?:once|ort|eq|pan|race)")
_TEMPORARY: Final = re.compile(r"/(?:var/folders|private/tmp|tmp)/[\w./-]+")

_BLANKS: Final = re.compile(r"[ \t]+")
_NUMERIC: Final = re.compile(r"[\d., -]+")
_DIGIT: Final = re.compile(r"\d")
_BESIDE: Final = listed(
    "ms us ns µs s sec secs second seconds min minute minutes Sekunden secondes segundos AM PM am "
    "pm Mon Tue Wed Thu Fri Sat Sun Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
)
"""Words that stand in times beside the numbers."""
_TOKEN: Final = re.compile(r"[^\s\"'<>(){}\[\],;|]+")
_RANDOM: Final = re.compile(r"(?=.*(?:\d[A-Za-z]+\d|[A-Za-z]\d+[A-Za-z]))[A-Za-z0-9+/=-]{6,}")

_FIRST_WORD: Final = re.compile(r"[^A-Za-z]*([A-Za-z][A-Za-z0-9]*)")
_NOISE_WORDS: Final = listed(
    "request req trace span correlation session transaction x id ids at on in time timestamp clock "
    "date ts took elapsed duration served generated finished by host server nonce utc gmt ms s "
    "requestid traceid t z"
)
"""Words of lines that a server adds to each answer."""
_NOISE: Final = re.compile(
    r"(?:[\W_]++|(?=[^\W_]*\d)[^\W_]++"
    rf"|(?ai:{'|'.join(sorted(_NOISE_WORDS))})(?![^\W_]))*+\Z"
)
"""Such words, words with a digit, and what parts them."""
MIN_ECHO_CHARS: Final = 4
MAX_NOISE_CHARS: Final = 200
_LONG_LINE = 160
_CONTEXT = 48


def mask(text: str) -> str:
    """Return a text with a place-holder for each volatile token.

    >>> mask("2025-06-21T10:00:03Z took 12 ms, 40 % of 7 files")
    '~ took ~, 40 % of 7 files'
    """
    if "/tmp/" in text or "/var/folders/" in text:  # noqa: S108 - looked for, not used
        text = _TEMPORARY.sub(PLACE, text)
    if "id" in text or "ID" in text or "Id" in text or _LABEL_HINT.search(text):
        text = _LABELLED.sub(PLACE, text)
    if ":" in text:
        text = _DATE.sub(PLACE, text)
    text = _FROM_LETTER.sub(PLACE, _FROM_DIGIT.sub(PLACE, text))
    return _BLANKS.sub(" ", text).strip() if "  " in text or "\t" in text else text.strip()


def are_alike(one: str, other: str, echoed: Sequence[str] = (), others: Sequence[str] = ()) -> bool:
    r"""Say whether two texts are the same but for volatile tokens and what they echo.

    Only lines that differ are masked, and it ends with the first that stays different.

    Args:
        one: A text.
        other: Another one.
        echoed: Argument values that the one may repeat.
        others: Argument values that the other may repeat.

    >>> are_alike("ok\nat 10:00:03", "ok\nat 10:00:09"), are_alike("7 left", "6 left")
    (True, False)
    """
    if one.count("\n") != other.count("\n"):
        return False
    line, _, rest = one.partition("\n")
    counterpart, _, others_rest = other.partition("\n")
    if line != counterpart and not _is_alike(line, counterpart, echoed, others):
        return False
    if rest == others_rest:
        return True
    return all(
        line == counterpart or _is_alike(line, counterpart, echoed, others)
        for line, counterpart in zip(rest.split("\n"), others_rest.split("\n"), strict=True)
    )


def _is_alike(one: str, other: str, echoed: Sequence[str], others: Sequence[str]) -> bool:
    """Say whether two lines are the same but for volatile tokens and what they echo."""
    if echoed:
        one = without_echo(one, echoed)
    if others:
        other = without_echo(other, others)
    if one == other:
        return True
    tokens, against = one.split(" "), other.split(" ")
    if len(tokens) == len(against):
        for token, counterpart in zip(tokens, against, strict=True):
            if token != counterpart and not (_may_change(token) and _may_change(counterpart)):
                return False
    if len(one) > _LONG_LINE and len(other) > _LONG_LINE:
        one, other = _difference(one, other)
    return mask(one) == mask(other)


def _may_change(token: str) -> bool:
    """Say whether a token between blanks can be volatile, or a part of what is."""
    return _DIGIT.search(token) is not None or token.strip(",.;()[]") in _BESIDE or "/" in token


def _difference(one: str, other: str) -> tuple[str, str]:
    """Return the parts of two long lines in which they differ, with what stands around them."""
    shorter = min(len(one), len(other))
    head = _common(one, other, shorter)
    tail = _common(one[::-1], other[::-1], shorter - head)
    start = max(0, head - _CONTEXT)
    start = one.rfind(" ", 0, start) + 1
    end = max(0, tail - _CONTEXT)
    return one[start : len(one) - end], other[start : len(other) - end]


def _common(one: str, other: str, limit: int) -> int:
    """Return how many characters at the beginning of two texts are the same, up to a limit."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def bare(text: str) -> str:
    r"""Return a result without lines at its ends that hold only request ids, clocks and durations.

    >>> bare("[request-id=7f3a039c 10:00:03]\nno matches")
    'no matches'
    """
    if len(text) > EDGE_CHARS:
        return text
    while (end := text.find("\n")) >= 0 and _is_noise(text[:end]):
        text = text[end + 1 :]
    while (start := text.rfind("\n")) >= 0 and _is_noise(text[start + 1 :]):
        text = text[:start]
    if text[-1:] in {"]", ")", ">", "}"}:
        start = max(text.rfind(" ["), text.rfind(" ("), text.rfind(" <"), text.rfind(" {"))
        if start > 0 and _is_noise(text[start:]):
            text = text[:start]
    if text[:1] in {"[", "(", "<"}:
        end = max(text.find("] "), text.find(") "), text.find("> "))
        if end > 0 and _is_noise(text[: end + 1]):
            text = text[end + 2 :]
    return text


def _is_noise(line: str) -> bool:
    """Say whether a line holds nothing but labels, ids and times, of which one is volatile."""
    if len(line) > MAX_NOISE_CHARS:
        return False
    first = _FIRST_WORD.match(line)
    if first is not None and not _is_noise_word(first[1]):
        return False
    return _NOISE.match(line) is not None and PLACE in mask(line)


def _is_noise_word(word: str) -> bool:
    return word.lower() in _NOISE_WORDS or _DIGIT.search(word) is not None


def cut(text: str) -> str:
    """Return a text short enough to be masked, with a digest for what is left out.

    Two texts that differ only in between stay different.
    """
    if len(text) <= 2 * EDGE_CHARS:
        return text
    between = text[EDGE_CHARS:-EDGE_CHARS].encode("utf-8", "surrogatepass")
    digest = xxhash.xxh3_64_hexdigest(between)
    return f"{text[:EDGE_CHARS]}\n\0{digest}\n{text[-EDGE_CHARS:]}"


def without_echo(text: str, values: Iterable[str]) -> str:
    r"""Return a text without the argument values that it repeats; numbers stay, they may be news.

    >>> without_echo("Could not find [Ada]. Similar: []", ["Ada", "7"])
    'Could not find [Ada]. Similar: []'
    >>> without_echo("Could not find [Ada L.]. Similar: []", ["Ada L."])
    'Could not find [\x01]. Similar: []'
    """
    found = [value for value in values if len(value) >= MIN_ECHO_CHARS and value in text]
    for value in sorted(found, key=len, reverse=True)[:6]:
        if not _NUMERIC.fullmatch(value):
            text = text.replace(value, "\x01")
    return text


class LearnedMasks:
    r"""What one session's tools change by themselves, learned from calls that are otherwise equal.

    Where two results of one call have the same tokens but for random-looking ones, such as a
    nonce of an unknown kind, what stands before these is remembered by tool; seen twice, it
    counts as volatile. Numbers never do.

    >>> learned = LearnedMasks()
    >>> learned.learn("get", "ok\ntag Zk3jd9", "ok\ntag Pq8wx2")
    >>> learned.learn("get", "ok\ntag Pq8wx2", "ok\ntag Bv5rn7")
    >>> learned.apply("get", "ok\ntag Hc2yt4")
    'ok\ntag ~'
    """

    __slots__ = ("_labels", "_patterns")

    MAX_TOOLS: Final = 16
    MAX_LABELS: Final = 4
    MAX_CHARS: Final = 1500

    def __init__(self) -> None:
        self._labels: dict[str, dict[str, int]] = {}
        self._patterns: dict[str, re.Pattern[str]] = {}

    def learn(self, tool: str, one: str, other: str) -> None:
        """Compare two results of the same call."""
        if len(one) > self.MAX_CHARS or len(other) > self.MAX_CHARS:
            return
        found = _labels_of(_TOKEN.findall(one), _TOKEN.findall(other), self.MAX_LABELS)
        if not found:
            return
        if tool not in self._labels and len(self._labels) >= self.MAX_TOOLS:
            self._labels.pop(next(iter(self._labels)))
        labels = self._labels.setdefault(tool, {})
        for label in found:
            if label in labels or len(labels) < self.MAX_LABELS:
                labels[label] = labels.get(label, 0) + 1
        sure = [re.escape(label) for label, times in labels.items() if times > 1]
        if sure:
            self._patterns[tool] = re.compile(rf"((?:{'|'.join(sure)})[^\w\n]+)[\w+/=.:-]{{6,}}")

    def knows(self, tool: str) -> bool:
        """Say whether anything was learned of a tool."""
        return tool in self._patterns

    def apply(self, tool: str, text: str) -> str:
        """Return the text with what is known of the tool masked."""
        pattern = self._patterns.get(tool)
        return text if pattern is None else pattern.sub(rf"\1{PLACE}", text)


def _labels_of(tokens: Sequence[str], others: Sequence[str], limit: int) -> set[str]:
    """Return what stands before the random tokens in which two results differ and nowhere else."""
    if len(tokens) != len(others):
        return set()
    differing = [i for i, token in enumerate(tokens) if token != others[i]]
    if not 0 < len(differing) <= limit or 0 in differing:
        return set()
    found = [tokens[i - 1] for i in differing]
    for i, label in zip(differing, found, strict=True):
        if not (_RANDOM.fullmatch(tokens[i]) and _RANDOM.fullmatch(others[i])):
            return set()
        if tokens.count(label) > found.count(label):
            return set()  # what follows it elsewhere stays the same: it is no label
    return set(found)
