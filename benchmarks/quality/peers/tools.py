"""What a tool does, told from the words of its name.

Some peers ask their user for it: which tools only read, which change something. One table serves
them all, so that none is helped more than the others.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from benchmarks.quality.peers.steps import Call

READ, SEARCH, EDIT, RUN, WAIT, OTHER = "read", "search", "edit", "run", "wait", "other"

WORDS = {
    READ: "read view open get fetch show inspect visit page cat describe scroll check",
    SEARCH: "search find grep glob list ls lookup query",
    EDIT: (
        "edit write replace patch create update insert delete remove save book cancel send add "
        "append set click type press navigate transfer"
    ),
    RUN: "run bash shell exec execute terminal test tests build python code interpreter cell sql",
    WAIT: "wait poll status sleep",
}
KINDS = {word: kind for kind, words in WORDS.items() for word in words.split()}
SHELLS = frozenset({"bash", "shell", "terminal", "exec"})


def kind_of(tool: str) -> str:
    """Return what a tool does: what waits is told first, then the first word that is known.

    >>> kind_of("read_file"), kind_of("StrReplaceEdit"), kind_of("job_status"), kind_of("think")
    ('read', 'edit', 'wait', 'other')
    """
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", tool)]
    known = [KINDS[word] for word in words if word in KINDS]
    return WAIT if WAIT in known else next(iter(known), OTHER)


def command_of(call: Call) -> str | None:
    """Return the command line of a shell's call; `None` for any other tool's."""
    words = {word.lower() for word in re.findall(r"[A-Za-z]+", call.tool)}
    command = call.args.get("command", call.args.get("cmd"))
    return command if isinstance(command, str) and words & SHELLS else None


def canonical(args: Mapping[str, Any]) -> str:
    """Return arguments as JSON with sorted keys."""
    return json.dumps(args, sort_keys=True, ensure_ascii=False, default=str)
