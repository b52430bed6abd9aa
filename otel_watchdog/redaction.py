r"""Takes secrets out of text before it leaves the process by our hand.

Works in time proportional to the text, whatever it holds: what repeats in a pattern is bounded, or
cannot begin again where it failed.
"""

import re
from typing import Final

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


def redacted(text: str) -> str:
    """Return `text` with what looks like a secret replaced.

    Replaced are keys and tokens of a known shape, values whose name says that they are secret,
    passwords in URLs, bearer tokens and private keys.

    >>> redacted('{"api_key": "abc", "path": "a.go"}')
    '{"api_key": "[redacted]", "path": "a.go"}'
    >>> redacted("curl -H 'Authorization: Bearer abcdefgh12345'")
    "curl -H 'Authorization: [redacted]'"
    """
    text = _SECRET.sub(REPLACEMENT, text)
    text = _NAMED_SECRET.sub(_hide, text)
    return _BEARER.sub(rf"\1 {REPLACEMENT}", text)


def _hide(found: re.Match[str]) -> str:
    """Keep the quotes, so that JSON stays JSON."""
    value = found["value"]
    quote = _QUOTE.match(value)
    if quote is None:
        return found["name"] + REPLACEMENT
    end = quote[0] if value.endswith(quote[0]) and len(value) > len(quote[0]) else ""
    return f"{found['name']}{quote[0]}{REPLACEMENT}{end}"
