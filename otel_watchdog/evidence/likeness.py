"""How alike two texts, or the arguments of two calls, are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from otel_watchdog.evidence.shell import COMMAND_KEYS, listed, options_of, targets_of, words_in

if TYPE_CHECKING:
    from otel_watchdog.evidence.exchanges import Exchange

_WORD: Final = re.compile(r"\w+")
_OPAQUE: Final = re.compile(r"(?i)[0-9a-f-]{6,}|\d+(?:\.\d+)?|true|false")
_DIGITS: Final = re.compile(r"\d+")
_REFERENCE: Final = re.compile(r"[\w.:/~?=&%-]+")
_FILE_NAME: Final = re.compile(r"[A-Za-z_]\w*\.[A-Za-z]\w{0,4}$")
_PROSE_WORD: Final = re.compile(r"\W*[^\W\d_](?:[^\W\d_]|['\u2019-])*\W*|\d{1,4}\W*")

STOP_WORDS: Final = listed(
    "the a an of to in on for and or is are was be with from by at as it this that what how please "
    "find search get tell me show https http www com"
)
"""Words that say nothing of what is asked."""

ENUMERATED: Final = listed(
    "id ids role user username tenant host hostname ip port account customer email region env "
    "environment branch page offset index date day month year zone cluster namespace project team "
    "org organization site device node table column city country sku order ticket"
)
"""Words of argument names by whose values one goes through a list: each value is a new question."""

ADDRESSES: Final = listed("url uri endpoint route path file filename address link")
"""Words of argument names whose values may differ in a number alone: the next one of many."""

FEW_WORDS: Final = 6
"""Below it, one word in common weighs too much for the share of all words."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case.

    >>> sorted(words_of("Build failed: 2 errors"))
    ['2', 'build', 'errors', 'failed']
    """
    return frozenset(_WORD.findall(text.lower()))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of all words that both have, 0 to 1."""
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def leaves(value: object) -> Iterator[str]:
    """Yield all values in arguments, however deep, as text."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield value if isinstance(value, str) else str(value)


def values_of(arguments: Any) -> list[str]:
    """Return the text values of arguments, two levels deep."""
    if not isinstance(arguments, dict):
        return []
    found = [value for value in arguments.values() if type(value) is str]
    for value in arguments.values():
        if type(value) is list:
            found += [item for item in value if type(item) is str]
        elif type(value) is dict:
            found += [item for item in value.values() if type(item) is str]
    return found


def is_prose(text: str) -> bool:
    """Say whether a text is natural language rather than code, a path or a list of numbers.

    >>> is_prose("tallest building in Ohio"), is_prose("x=1 y=2 src/a.py:3")
    (True, False)
    """
    words = text.split()
    if len(words) < 3:  # noqa: PLR2004 - two words may be a name
        return False
    told = sum(_PROSE_WORD.fullmatch(word) is not None for word in words)
    return told >= 0.75 * len(words)


def alikeness(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> float:
    """Say how alike two calls' arguments are, 0 to 1 and a little more.

    Only what differs is looked at; the least alike value decides. Random and numeric values are
    alike: a nonce, a limit. A counter inside a text is so only where another argument stays the
    same: pages 1, 2, 3 of one document are work. Paths are compared by their last part.

    >>> alikeness({"q": "tallest building Ohio"}, {"q": "the tallest building in Ohio"})
    1.0
    >>> alikeness({"path": "src/a.py"}, {"path": "src/b.py"})
    0.0
    """
    if one is None or other is None:
        return 0.0
    keys = [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]
    if not keys:
        return 1.0
    rest = len(keys) < len(one.keys() | other.keys())
    return min(_alike(key, one.get(key), other.get(key), rest=rest) for key in keys)


def _alike(key: str, one: object, other: object, *, rest: bool) -> float:
    if one is None or other is None:
        return 0.5
    text, against = _text(one), _text(other)
    if _is_next_in_list(key, text, against):
        return 0.0
    if _are_numbered(text, against):
        return 1.0 if rest else 0.0
    if _OPAQUE.fullmatch(text) and _OPAQUE.fullmatch(against):
        return 1.0
    if key in COMMAND_KEYS:
        here, there = targets_of(text), targets_of(against)
        if here and there and not here & there:
            return 0.0
        text, against = _without_verb(text), _without_verb(against)
    return _common_share(text, against)


def _is_next_in_list(key: str, text: str, against: str) -> bool:
    """Say whether two values are two of a list that is gone through: a name, an id, an address."""
    if key in COMMAND_KEYS:
        options, others = options_of(text), options_of(against)
        differing = [name for name in options if options[name] != others.get(name)]
        if options.keys() != others.keys() or len(differing) != 1:
            return False
        name = differing[0]
        return _is_next_in_list(name, options[name], others[name])
    words = words_in(key)
    if not ENUMERATED.isdisjoint(words):
        return _is_name(text) and _is_name(against)
    if ADDRESSES.isdisjoint(words):
        return False
    path, _, query = text.partition("?")
    other, _, others_query = against.partition("?")
    return path != other and query == others_query and _are_numbered(path, other)


def _are_numbered(one: str, other: str) -> bool:
    return _DIGITS.sub("#", one) == _DIGITS.sub("#", other)


def _is_name(text: str) -> bool:
    return any(map(str.isalnum, text)) and not is_prose(text)


def _common_share(text: str, against: str) -> float:
    words, others = _content(text), _content(against)
    if not words or not others:
        same = text.lower() == against.lower()
        return 1.0 if same or not (words or others) else 0.0
    common = len(words & others)
    if min(len(words), len(others)) < FEW_WORDS:
        return common / min(len(words), len(others))
    return common / len(words | others) * 1.3


def _text(value: object) -> str:
    return (value if isinstance(value, str) else str(value))[:2000]


def _without_verb(command: str) -> str:
    return " ".join(word for word in command.split()[1:] if word[0] != "-") or command


def _content(text: str) -> frozenset[str]:
    if _REFERENCE.fullmatch(text) and ("/" in text or _FILE_NAME.search(text)):
        return frozenset({text.rstrip("/").rsplit("/", 1)[-1].lower()})
    return frozenset(
        word for word in words_of(text) - STOP_WORDS if len(word) > 1 or not word.isascii()
    )


def is_sweep(exchanges: Sequence["Exchange"]) -> bool:
    """Say whether calls of one tool go through a list: one argument differs, by a name or number.

    A list is told by the argument's name (`role`, `host`, `id`), for prose and paths say nothing.
    """
    if len(exchanges) < 3:  # noqa: PLR2004 - two of anything differ
        return False
    asked = [_asked_of(exchange) for exchange in exchanges]
    first = asked[0]
    if not first or any(one.keys() != first.keys() for one in asked):
        return False
    if any(exchange.tool != exchanges[0].tool for exchange in exchanges):
        return False
    swept = [key for key in first if any(one[key] != first[key] for one in asked)]
    if len(swept) != 1:
        return False
    values = [_text(one[swept[0]]) for one in asked]
    return len(set(values)) == len(values) and all(
        _is_next_in_list(swept[0], values[0], value) for value in values[1:]
    )


def _asked_of(exchange: "Exchange") -> Mapping[str, Any]:
    """Return a call's arguments, of a shell command its options."""
    arguments = exchange.arguments or {}
    if exchange.is_shell:
        for key in COMMAND_KEYS:
            if isinstance(arguments.get(key), str):
                return options_of(arguments[key])
    return arguments
