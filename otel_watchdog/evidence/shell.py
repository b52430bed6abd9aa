"""What a shell command does: its verbs and targets, so that a one-tool agent is not one loop."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

COMMAND_KEYS: Final = ("command", "cmd", "script", "commands")
"""Argument names that hold a shell command."""

MAX_CHARS: Final = 2000
"""Of a command that are read; the rest is text handed to a program."""

_COMMENT: Final = re.compile(r"(?m)^[ \t]*#[^\n]*")
_VERB: Final = re.compile(
    r"(?:^|((?<!\|)\|\s*)|[;&|(\n]\s*|\bsudo\s+|\btimeout\s+\S+\s+|\btime\s+|\bxargs\s+)"
    r"([A-Za-z_][\w.-]*)(?:[ \t]+([A-Za-z_-]+)(?=\s|$))?"
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TARGET: Final = re.compile(r"[\w.~-]*/[\w./*-]+|\b[\w-]+\.[A-Za-z]\w{0,4}\b")
_QUIET: Final = re.compile(r"[12&]?>{1,2}\s*(?:/dev/null|&[12])")
_REDIRECT: Final = re.compile(r"(?<![-=<0-9])>{1,2}\s*[\w./~$\"'-]")
_IN_PLACE: Final = re.compile(r"\bsed\s+(?:-\w+\s+)*-i|\bperl\s+-\w*i")
_WAIT: Final = re.compile(r"\s*sleep\b[^;&|\n]*$")
_LEAD: Final = re.compile(r"^(?:sudo\s+|time\s+|timeout\s+\S+\s+)+")
_TRAIL: Final = re.compile(r"(?:\s*2>&1|\s*\|\s*(?:head|tail)(?:\s+-n?\s*\d+)?)+$")
_PART: Final = re.compile(r"'[^']*'|\"[^\"]*\"|[^\s'\"]+")
_NAMED: Final = re.compile(r"(-{0,2}[A-Za-z][\w-]*)(?:=|: ?)([^/].*)")
_BLANKS: Final = re.compile(r"\s+")

WRITERS: Final = frozenset(
    {
        *("mkdir", "mv", "cp", "rm", "rmdir", "touch", "tee", "chmod", "chown", "ln", "unzip"),
        *("patch", "tar", "dd", "truncate", "rsync", "gunzip", "kill", "pkill", "killall"),
    }
)
"""Commands that change something by being run."""

GIT_WRITERS: Final = frozenset(
    {"add", "mv", "rm", "commit", "checkout", "switch", "apply", "push", "pull", "merge", "reset"}
    | {"stash", "rebase", "restore", "clone", "init", "cherry-pick", "revert", "clean"}
)
"""Subcommands of git that change something."""

INSTALLERS: Final = frozenset({"pip", "pip3", "apt", "apt-get", "npm", "yarn", "pnpm", "brew"})
"""Commands whose `install` changes what later commands find."""


FILTERS: Final = frozenset(
    {"head", "tail", "grep", "egrep", "rg", "wc", "sort", "uniq", "cut", "tr", "cat", "less"}
    | {"more", "nl", "column", "jq", "sed", "awk"}
)
"""Programs that behind a pipe only choose what is shown of what another has done."""


class Command(NamedTuple):
    """What is read off a command."""

    verbs: frozenset[str]
    """Programs and subcommands, as they stand and by word, in lower case."""
    is_comment: bool
    """It holds nothing but comments."""
    waits: bool
    """It only lets time pass."""
    writes: bool
    """It is known to change something."""
    text: str
    """The command in one spelling: what does not change its answer is left out."""


@lru_cache(maxsize=256)
def parse(command: str) -> Command:
    """Read a command.

    >>> parse("timeout 60 git commit -m 'x' 2>&1 | tail -3").writes
    True
    >>> parse("grep -rn foo src | head").text
    'grep -rn foo src'
    """
    body = command[:MAX_CHARS]
    if "#" in body:
        body = _COMMENT.sub("", body)
    body = _LEAD.sub("", body.strip())
    verbs: set[str] = set()
    writes = False
    for piped, first, second in _VERB.findall(body):
        if piped and first in FILTERS:
            continue
        program, sub = (second, "") if first == "xargs" else (first, second)
        verb = program.lower()
        verbs.add(verb)
        verbs.update(words_in(program))
        if sub and not sub.startswith("-"):
            verbs.add(sub.lower())
            verbs.update(words_in(sub))
        writes = writes or _is_writer(verb, sub)
    if not writes and (">" in body or "-i" in body):
        plain = _QUIET.sub("", body)
        writes = bool(_REDIRECT.search(plain) or _IN_PLACE.search(plain))
    return Command(
        frozenset(verbs),
        is_comment=bool(command.strip()) and not body,
        waits=_WAIT.match(body) is not None,
        writes=writes,
        text=_normal(command),
    )


def _is_writer(verb: str, sub: str) -> bool:
    return (
        verb in WRITERS
        or (verb == "git" and sub in GIT_WRITERS)
        or (verb in INSTALLERS and sub in {"install", "i", "add"})
    )


def _normal(command: str) -> str:
    text = _BLANKS.sub(" ", command).strip()
    return _TRAIL.sub("", _LEAD.sub("", text)) or text


def options_of(command: str) -> dict[str, str]:
    """Return what a command is given, by the option's name; the rest by its place.

    >>> options_of("curl -s --role admin 'X-Tenant: a' limit=3 url")
    {'0': 'curl', 'role': 'admin', 'X-Tenant': 'a', 'limit': '3', '1': 'url'}
    """
    found: dict[str, str] = {}
    name = ""
    places = 0
    for token in _PART.findall(command[:MAX_CHARS]):
        text = token.strip("'\"")
        named = _NAMED.match(text)
        if named is not None:
            found[named[1].lstrip("-")] = named[2]
            name = ""
        elif text.startswith("-") and not text.lstrip("-").isdigit():
            name = text.lstrip("-")
        elif name:
            found[name] = text
            name = ""
        else:
            found[str(places)] = text
            places += 1
    return found


def listed(words: str) -> frozenset[str]:
    """Return the words of a text as a set: one a line would hide what belongs together."""
    return frozenset(words.split())


def words_in(name: str) -> frozenset[str]:
    """Return the words of a name, in lower case.

    >>> sorted(words_in("readFile_v2"))
    ['file', 'read', 'v']
    """
    return frozenset(word.lower() for word in _WORD.findall(name))


def targets_of(command: str) -> frozenset[str]:
    """Return the files that a command names, without their folders.

    >>> sorted(targets_of("diff src/a.py ./b.py"))
    ['a.py', 'b.py']
    """
    return frozenset(found.rsplit("/", 1)[-1] for found in _TARGET.findall(command[:MAX_CHARS]))
