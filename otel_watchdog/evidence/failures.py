"""Says by its text how a tool call ended, and what stays the same of an error."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from otel_watchdog.evidence.exchanges import (
    AUTH,
    EMPTY,
    ERROR,
    OK,
    READ,
    REFUSED,
    SERVER,
    THINK,
    UNKNOWN,
    WRITE,
    Effect,
    Trouble,
)
from otel_watchdog.evidence.likeness import values_of, words_of
from otel_watchdog.evidence.masks import PLACE, mask
from otel_watchdog.evidence.shell import listed
from otel_watchdog.model import ToolOutcome

MAX_CHARS: Final = 1500
"""A longer result is no failure for what it says: reports and logs speak of errors, too."""

HEAD_CHARS: Final = 300

LOW_CHARS: Final = 2000
"""At the end of a result, in which numbers of failures are looked for."""

ECHO_CHARS: Final = 4000
"""A longer result is no echo of a program."""

_ECHO_SLACK_CHARS: Final = 60
_ECHO_SHARE: Final = 0.08
_ANSWERS: Final = re.compile(r"(?i)final_?answer|\bsubmit\b")
_FRAME: Final = listed("execution logs last output from code snippet none stdout result")

_NOTHING = r"\s*:\s*(?:null|false|\"\")"
_STATUS: Final = (
    r"[45]\d\d (?:client error|server error|error\b|bad (?:gateway|request)|conflict\b|forbidden"
    r"|gateway time|gone\b|insufficient|internal|invalid|locked\b|method not|not (?:acceptable"
    r"|allowed|authorized|found|implemented)|overloaded|payload too|payment req|permission|pre"
    r"condition|proxy auth|rate limit|request (?:entity|time|uri)|service (?:temp|un)|site is"
    r"|time[- ]?out\b|too many|unauthenticated|unauthori[sz]ed|unavailable|unprocess|unsupported)"
)
"""A status of HTTP with its reason: `412 passed` and `500 rows` are none."""
_STRONG: Final = re.compile(
    rf"(?i)\W{{0,8}}(?:error\b(?!\"?{_NOTHING})|is_?error\"(?!{_NOTHING})|fehler\b|erreur\b|errore\b"
    r"|错误|エラー|could not|cannot|can't|unable to|invalid action|http [45]\d\d\b"
    rf"|{_STATUS}|upstream\b|not read again|blocked\b|traceback|failed\b"
    r"|tool call limit)"
)
_WEAK: Final = re.compile(
    r"(?i)\W{0,8}(?:err:|exception\b|fatal\b|failure\b|usage:|test case did not pass|denied"
    r"|exit(?:ed)?(?: with)?(?: status| code)? [1-9]|exit code: [1-9]|\w*(?:error|exception)\s*:)"
)
_TAIL: Final = re.compile(
    r"(?i)(?:command not found|no such file or directory|is incorrect|did not pass"
    r"|permission denied|not executed)\W*(?:keep trying|please try again)?\W*$"
)
_UNDONE: Final = re.compile(
    r"(?i)\brejected\b|\bno match(?:es)? for\b|\bdid not match\b|\bnot applied\b"
    r"|\bnothing (?:was )?(?:changed|replaced)\b"
)
"""What a tool that writes says where it did not."""
_EMPTY: Final = re.compile(
    r"(?is)\W*(?:(?:no (?:more )?(?:results?|match(?:es)?|entries|hits|rows|records|data|output"
    r"|files?|items?)\b|keine (?:treffer|ergebnisse|eintr)|aucun|sin resultados|ning[uú]n"
    r"|nenhum|nessun"
    r"|没有|无结果|見つかり).{0,60}|nothing (?:was )?found.{0,40}|none|null|empty|not found"
    r"|0 (?:results|matches|hits|rows|files).{0,30}|<tool_use_error>)?\W*"
)
_ERROR_LINE: Final = re.compile(
    r"(?i)error|fail|denied|not found|cannot|invalid|exception|fehler|[45]\d\d"
)
_QUOTED: Final = re.compile(r"(.)\{[^{}]{0,400}\}")
_DIGITS: Final = re.compile(r"\d+")
_SERVER: Final = re.compile(
    r"(?i)\b(?:429|502|503|504|529)\b|rate.?limit|overloaded|too many requests"
    r"|service (?:is )?(?:temporarily )?unavailable|gateway time|econnre"
    r"|connection (?:reset|refused|timed out)|temporarily unavailable|retry[- ]after"
)
_AUTH: Final = re.compile(
    r"(?i)\b(?:401|403)\b|unauthori[sz]ed|forbidden|unauthenticated"
    r"|authentication (?:failed|required)|invalid (?:api[ _-]?)?(?:key|token|credentials?)"
    r"|(?:token|credentials?|session|key) (?:has |is )?(?:expired|revoked|invalid)"
    r"|expired (?:token|credential)|invalid_(?:grant|token)|not logged in"
)
_ACKNOWLEDGEMENT: Final = re.compile(
    r"(?is)\W*(?:ok|okay|done|success\w*|saved|applied|wrote|written|updated|created|added|sent"
    r"|stored|edited|deleted|removed|gespeichert|guardado|enregistr)\b.{0,80}"
)
_PENDING: Final = re.compile(
    r"(?i)\b(?:running|pending|queued|in[ _-]progress|waiting|building|starting|processing"
    r"|not (?:yet )?ready|still|scheduled|deploying|uploading|l[aä]uft|en cours|pendiente)\b|\d ?%"
)
_COUNTED: Final = re.compile(
    r"[0-9]\s+(?:[Ff]ail|FAIL|[Ee]rror|ERROR|[Pp]roblem|[Ww]arning|[Ii]ssue)"
)


def outcome_of(
    text: str, told: ToolOutcome, effect: Effect, *, is_shell: bool, is_echo: bool = False
) -> ToolOutcome:
    """Say how a call ended, by what the trace tells and by what the result says.

    Tools that only look are believed less: files and pages may speak of errors.

    >>> outcome_of("401 Unauthorized", ToolOutcome.OK, Effect.READ, is_shell=False)
    <ToolOutcome.ERROR: 'error'>
    >>> outcome_of("docs: when a build FAILED", ToolOutcome.OK, Effect.READ, is_shell=False)
    <ToolOutcome.OK: 'ok'>
    """
    if told is ERROR or told is REFUSED:
        return told
    if len(text) <= HEAD_CHARS:
        if effect is WRITE and _UNDONE.search(text):
            return ERROR
        if _EMPTY.fullmatch(text):
            return EMPTY
    if effect is not THINK and not is_echo and len(text) < MAX_CHARS:
        is_believed = effect is not READ or is_shell
        if _STRONG.match(text) or (is_believed and _tells_of_failure(text)):
            return ERROR
    return OK if told is UNKNOWN else told


def _tells_of_failure(text: str) -> bool:
    if _WEAK.match(text):
        return True
    return len(text) <= HEAD_CHARS and _TAIL.search(text) is not None


@lru_cache(maxsize=128)
def line_of(text: str) -> str:
    r"""Return the line of an error that tells what went wrong, volatile tokens masked.

    >>> line_of("Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'")
    "KeyError: 'x'"
    """
    head = text[:LOW_CHARS]
    is_traceback = "Traceback" in head
    for _ in range(2):  # arguments that an error quotes, one in another
        head = _QUOTED.sub(r"\1~", head)
    lines = [line for part in mask(head).splitlines() if (line := part.strip())]
    if not lines:
        return ""
    if not is_traceback:
        line = next((one for one in lines if _ERROR_LINE.search(one)), lines[0])
    else:
        line = text.rstrip().rsplit("\n", 1)[-1] if len(text) > LOW_CHARS else lines[-1]
    return line.strip(PLACE + " ")[:200]


def signature_of(line: str) -> str:
    """Return what stays the same of an error's line: all of it but numbers.

    >>> signature_of("HTTP 500: no answer in 3 tries")
    'HTTP #: no answer in # tries'
    """
    return _DIGITS.sub("#", line)


def trouble_of(text: str) -> Trouble | None:
    """Say whose fault an error is, if it is the server's or the credential's."""
    head = text[:HEAD_CHARS]
    if _SERVER.search(head):
        return SERVER
    return AUTH if _AUTH.search(head) else None


def low_of(text: str) -> int | None:
    """Return how many failures a result tells of; `None` where it does not.

    >>> low_of("12 passed, 3 failed")
    3
    """
    text = text[-LOW_CHARS:]
    found = list(_COUNTED.finditer(text))
    if not found:
        return None
    last = found[-1]
    head = text[max(0, last.start() - 8) : last.start() + 1]
    return int(head[len(head.rstrip("0123456789")) :])


def acknowledges(text: str) -> bool:
    """Say whether a result only tells that something was done."""
    return len(text) <= HEAD_CHARS and _ACKNOWLEDGEMENT.fullmatch(text) is not None


def is_pending(text: str) -> bool:
    """Say whether a result tells that something still goes on.

    >>> is_pending("state=running"), is_pending("deployed")
    (True, False)
    """
    return len(text) <= HEAD_CHARS and _PENDING.search(text) is not None


def declares_no_op(text: str) -> bool:
    """Say whether a tool declares that it changed nothing.

    Only the literal `true` counts: the declaration may stop a run.

    >>> declares_no_op('{"no_op": true}'), declares_no_op('{"no_op": 1}')
    (True, False)
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(value, dict):
        return False
    declared = value.get("no_op")
    return declared is True or declared == "true"


def is_echo(text: str, arguments: Mapping[str, Any] | None) -> bool:
    """Say whether a program printed hardly a word that did not stand in its own text."""
    if not arguments or not text or len(text) > ECHO_CHARS:
        return False
    code = "\n".join(values_of(arguments))
    if len(text) > 1.2 * len(code) + _ECHO_SLACK_CHARS:
        return False
    new = 0
    for word in text[:160].split():
        if word not in code and word.strip("'\"`:.,*()[]").lower() not in _FRAME:
            new += 1
            if new > 3:  # noqa: PLR2004 - quick look before all words are parted
                return False
    words = words_of(text) - _FRAME
    if not words or _ANSWERS.search(code[:ECHO_CHARS]):
        return False
    return len(words - words_of(code)) <= _ECHO_SHARE * len(words)
