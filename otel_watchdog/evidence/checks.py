"""Which calls check the work, such as tests, linters and builds, and whether one is green."""

import re
from functools import lru_cache
from typing import Final

from otel_watchdog.evidence.effects import nature_of
from otel_watchdog.evidence.exchanges import OK, WRITE, Exchange
from otel_watchdog.evidence.shell import COMMAND_KEYS, listed

MAX_CHARS: Final = 400
"""Of a command in which a program that checks is looked for."""

END_CHARS: Final = 1000
"""Of a result, in which a check sums up."""

_TOOL_WORDS: Final = listed(
    "test tests pytest check checks lint linter build compile verify validate typecheck ci"
)
"""Words of tools that check."""

_COMMAND: Final = re.compile(
    r"(?:^|[;&|(\n]\s*|/|-m\s+|\b(?:run|exec|npx|sudo)\s+)"
    r"(?:(?:pytest|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|mypy|ruff|flake8|pylint"
    r"|eslint|tsc|pyright|shellcheck|golangci-lint|yamllint)(?=$|[\s;&|)])"
    r"|(?:make|npm|pnpm|yarn|bun|cargo|go|dotnet|mvnw?|gradlew?|just|bazel|rake|mix|swift|deno"
    r"|composer)\s+(?:run[ -])?[\w:.-]*(?:test|check|lint|build|verify|vet|clippy|compile)"
    r"|python3?\s+(?:-\w\s+)*\S*test\w*\.py)"
)
"""Programs that check, where a command stands; what only names them in a search is none."""

_HINTS: Final = (
    *("test", "lint", "check", "build", "vet", "mypy", "ruff", "tsc", "pyright", "tox", "nox"),
    *("jest", "mocha", "rspec", "phpunit", "flake8", "clippy", "verify", "compile"),
)
"""Without one of these in a command it is not searched: most are none."""

_COUNTED: Final = re.compile(
    r"[1-9]\d*\s+(?:(?:tests?|specs?|checks?) )?(?:passed|passing|succeeded|ok)\b"
)
_OPENING: Final = re.compile(r"(?:ok|pass|passed)\b")
_NONE: Final = re.compile(r"(?<![\d.])(?:0|no) (?:errors|failures|issues|problems)\b")
_SAID: Final = (
    *("test result: ok", "all checks pass", "all tests pass", "tests passed", "checks passed"),
    *("build success", "build succeeded", "compiled successfully"),
)
"""What stands at the end of a check where all is well; looked for in lower case."""

_RED: Final = re.compile(r"[1-9]\d*\s+(?:(?:tests?|specs?) )?(?:fail|error|broken|problem)")
_FAILED: Final = re.compile(r"FAIL(?:ED)?\b")


def is_check(exchange: Exchange) -> bool:
    """Say whether a call checks the work: it runs tests, a linter, a type checker or a build."""
    if exchange.effect is WRITE or exchange.is_idle:
        return False
    if not exchange.is_shell:
        return not _TOOL_WORDS.isdisjoint(nature_of(exchange.tool).words)
    arguments = exchange.arguments or {}
    return any(runs_check(arguments[key]) for key in COMMAND_KEYS if key in arguments)


@lru_cache(maxsize=256)
def runs_check(command: object) -> bool:
    """Say whether a shell command checks the work.

    >>> runs_check("cd app && python -m pytest -q | tail -3"), runs_check("cat tests/test_a.py")
    (True, False)
    """
    if not isinstance(command, str):
        return False
    begins = command[:MAX_CHARS]
    for hint in _HINTS:
        if hint in begins:
            return _COMMAND.search(begins) is not None
    return False


def is_green(exchange: Exchange) -> bool:
    """Say whether a call is a check that tells that everything is well."""
    return exchange.outcome is OK and is_check(exchange) and tells_green(exchange.text)


def tells_green(text: str) -> bool:
    """Say whether what a check printed tells that everything is well.

    >>> tells_green("12 passed in 0.3s"), tells_green("11 passed, 1 failed")
    (True, False)
    """
    end = text[-END_CHARS:]
    lower = end.lower()
    if _FAILED.search(end) or _RED.search(lower) or "not ok" in lower or "build fail" in lower:
        return False
    return (
        any(words in lower for words in _SAID)
        or _COUNTED.search(lower) is not None
        or _NONE.search(lower) is not None
        or any(_OPENING.match(line) for line in lower.splitlines())
    )
