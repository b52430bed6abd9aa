"""Text from strangers, made fit for a terminal."""

import re
from typing import Final

MAX_CHARS: Final = 300

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def safe(text: str, *, limit: int = MAX_CHARS) -> str:
    r"""Return `text` in one line, cut, with what a terminal would act on or hide written out.

    >>> safe("\x1b[31mred\n\u202eback")
    '\\x1b[31mred\\n\\u202eback'
    """
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), cut)
