r"""Takes secrets out of text before it leaves the process by our hand.

Works in time proportional to the text, whatever it holds: what repeats in a pattern is bounded, or
cannot begin again where it failed.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

REPLACEMENT: Final = "[redacted]"

_SECRET = re.compile(
    r"""
      (?<=://)[^/\s:@"']*:[^/\s@"']+(?=@)          # user and password of a URL
    | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}            # API keys of model providers
    | \b(?:sk|pk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}    # Stripe keys
    | \bgh[pousr]_[A-Za-z0-9]{20,}                 # GitHub tokens
    | \bgithub_pat_\w{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}                   # GitLab tokens
    | \bhf_[A-Za-z0-9]{20,}                        # Hugging Face tokens
    | \bnpm_[A-Za-z0-9]{20,}                       # npm tokens
    | \bxox[abposr]-[A-Za-z0-9-]{10,}              # Slack tokens
    | \bxapp-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b                # AWS access keys
    | \bAIza[0-9A-Za-z_-]{30,}                     # Google API keys
    | \bya29\.[0-9A-Za-z_-]{20,}
    | (?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*    # JSON Web Tokens
    | -----BEGIN[ A-Z]*PRIVATE[ ]KEY-----[\s\S]*?(?:-----END[ A-Z]*PRIVATE[ ]KEY-----|\Z)
    """,
    re.VERBOSE | re.ASCII,
)

_NAME = (
    r"(?:password|passwd|passphrase|secret|token|credential|authorization|cookie"
    r"|(?:api|access|private)[_-]?key)[\w-]{0,32}"
)

_NAMED_SECRET = re.compile(
    rf"""
    (?P<name>
        {_NAME} (?:\\*["'])? \s* [:=] \s*          # in JSON, YAML, headers, assignments
      | (?<![\w-])--[\w-]{{0,32}}? {_NAME} \s+ (?!-)    # the word after a command's option
      | \s-u \s+ (?=[^\s:]{{1,256}}:)              # curl's user and password
    )
    (?P<value>
        \\+"[\s\S]*?(?:\\+"|\Z)                    # JSON within JSON
      | "(?:[^"\\]|\\.)*+(?:"|\Z|\\\Z)             # an open quote ends with the text
      | '(?:[^'\\]|\\.)*+(?:'|\Z|\\\Z)
      | \[[^\]]{{0,1024}}+\]
      | (?:Bearer|Basic|Digest|Token|ApiKey|Key)\s+[^\s,;"'}}\\]+
      | (?!{_NAME}(?:\\*["'])?\s*[:=]\s)[^\s,;&"'}}\\]+
    )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

_BEARER = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)

_QUOTE = re.compile(r"""\\*["']""")

# A pattern is tried where one of its words stands, and nowhere else: to try it at each character of
# a text takes ten times as long. Each branch of a pattern has a word here, and how far from the
# word's first character it begins.

_Words: TypeAlias = dict[str, int]


def _begin_with(words: str) -> _Words:
    return dict.fromkeys(words.split(), 0)


_SECRET_WORDS: Final[_Words] = {
    "://": 3,
    "k-": -1,
    "k_": -1,
    **_begin_with(
        "whsec_ gh github_pat_ glpat- hf_ npm_ xox xapp- AKIA ASIA AIza ya29. eyJ -----B"
    ),
}
_NAME_WORDS: Final[_Words] = {
    "-u": -1,
    **_begin_with("pass secret token credential author cookie api access private --"),
}
_BEARER_WORDS: Final[_Words] = _begin_with("bearer basic")

_LIKE_ASCII: Final = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))
"""Letters that are equal to one of ASCII where case is ignored."""


def redacted(text: str) -> str:
    """Return `text` with what looks like a secret replaced.

    Replaced are keys and tokens of a known shape, values whose name says that they are secret,
    passwords in URLs, bearer tokens and private keys.

    >>> redacted('{"api_key": "abc", "path": "a.go"}')
    '{"api_key": "[redacted]", "path": "a.go"}'
    >>> redacted("curl -H 'Authorization: Bearer abcdefgh12345'")
    "curl -H 'Authorization: [redacted]'"
    """
    text = _replaced(text, text, _SECRET, _SECRET_WORDS, lambda _: REPLACEMENT)
    text = _replaced(text, _lower(text), _NAMED_SECRET, _NAME_WORDS, _hide)
    return _replaced(text, _lower(text), _BEARER, _BEARER_WORDS, _hide_bearer)


def _replaced(
    text: str,
    searched: str,
    pattern: re.Pattern[str],
    words: _Words,
    replacement: Callable[[re.Match[str]], str],
) -> str:
    """Return a text with each match of a pattern replaced.

    Args:
        text: It.
        searched: The same, as the words are spelled.
        pattern: What is replaced.
        words: Where it may begin.
        replacement: Returns what stands for a match.
    """
    parts = []
    end = 0
    for start in _starts(searched, words):
        found = pattern.match(text, start) if start >= end else None
        if found is not None:
            parts += [text[end:start], replacement(found)]
            end = found.end()
    return "".join(parts) + text[end:] if parts else text


def _starts(text: str, words: _Words) -> list[int]:
    """Return the places of a text where a match may begin, in order."""
    starts = set()
    for word, behind in words.items():
        at = text.find(word)
        while at >= 0:
            starts.add(at + behind)
            at = text.find(word, at + 1)
    return sorted(starts)


def _lower(text: str) -> str:
    """Return a text in lower case, each character in its place."""
    if not text.isascii():
        for letter, like in _LIKE_ASCII:
            text = text.replace(letter, like)
    return text.lower()


def _hide(found: re.Match[str]) -> str:
    """Keep the quotes, so that JSON stays JSON."""
    value = found["value"]
    quote = _QUOTE.match(value)
    if quote is None:
        return found["name"] + REPLACEMENT
    end = quote[0] if value.endswith(quote[0]) and len(value) > len(quote[0]) else ""
    return f"{found['name']}{quote[0]}{REPLACEMENT}{end}"


def _hide_bearer(found: re.Match[str]) -> str:
    return f"{found[1]} {REPLACEMENT}"
