"""Says how a tool call ended, by what it gave back."""

import re

from otel_watchdog.model import REFUSAL, ToolOutcome
from otel_watchdog.reading.content import parsed, text_of

_REFUSAL_CHARS = 120
"""Where a refusal of ours begins, if the framework wraps it."""


def outcome_of(result: str | None, *, failed: bool | None) -> tuple[ToolOutcome, str | None]:
    """Say how a tool call ended, and the error text if it stands in the result.

    Tools that fail by returning text are the rule, so a result is looked into even where the
    trace says that all went well.

    Args:
        result: What the tool gave back, as text; `None` if not captured.
        failed: What the trace says: true, false, or `None` where it does not.

    >>> outcome_of('{"error": "401 Unauthorized"}', failed=False)
    (<ToolOutcome.ERROR: 'error'>, '401 Unauthorized')
    >>> outcome_of("no matches", failed=False)[0]
    <ToolOutcome.EMPTY: 'empty'>
    """
    if result is not None and REFUSAL in result[:_REFUSAL_CHARS]:
        return ToolOutcome.REFUSED, None
    if failed:
        return ToolOutcome.ERROR, (error_in(result) or None) if result else None
    if result is None:
        return (ToolOutcome.UNKNOWN if failed is None else ToolOutcome.OK), None
    told = error_in(result)
    if told is not None:
        return ToolOutcome.ERROR, told or None
    if is_empty(result):
        return ToolOutcome.EMPTY, None
    return ToolOutcome.OK, None


def error_in(result: str) -> str | None:
    """Return the error that a result tells of, "" if without a text; `None` if it tells of none.

    Read are a reserved `error` key, `isError`/`is_error`, `status: "error"`, and at the head of a
    text a Python traceback or the name of an error class before a colon: `Error: …`,
    `ValueError: …`, `java.io.IOException: …`, and the line by which a coding agent's shell says
    that a command's exit status was not 0. A key that is null, false or empty tells of none,
    and no other place in a text does. Known to be wrong where a tool returns a text that begins
    so by itself, such as the first line of a log.

    >>> error_in('{"isError": true, "content": "boom"}')
    'boom'
    >>> error_in('{"error": null, "rows": 3}') is None
    True
    >>> error_in("Error: no such file"), error_in("Fixed it. Error: none left")
    ('Error: no such file', None)
    """
    if result[:1] == "{":
        return _error_in_object(result) if "rror" in result else None
    if result.find("ode", -_HARNESS_CHARS) >= 0 or result[:1] == "P":
        status = exit_status(result)
        if status is not None:
            return status
    colon = result.find(": ", 0, _ERROR_NAME_CHARS)
    if colon >= 0 and result[colon - 5 : colon] in _ERROR_ENDS and _is_name(result[:colon]):
        return result
    if result.startswith("Traceback (most recent call last)"):
        return result.rstrip().rsplit("\n", 1)[-1]
    return None


def exit_status(result: str) -> str | None:
    r"""Return what a shell harness says at a result's end or head of a status that is not 0.

    >>> exit_status("no such file\n<shellId: 0 completed with exit code 101>")
    'completed with exit code 101'
    >>> exit_status("Process exited with code 0") is None
    True
    """
    for part in (result[:_HARNESS_CHARS], result[-_HARNESS_CHARS:]):
        match = _EXIT.search(part)
        if match is not None:
            return match[0].strip() if match["status"].strip("0") else None
    return None


_HARNESS_CHARS = 120
"""How much of a text's head and end is the harness's: it says there how the command ended."""
_EXIT = re.compile(
    r"(?:^Process exited with code |^Exit Code: |completed with exit code )(?P<status>\d+)",
    re.MULTILINE,
)
_ERROR_NAME_CHARS = 80
_ERROR_ENDS = frozenset({"Error", "ption"})


def _is_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split(".")) and (
        text.endswith(("Error", "Exception"))
    )


def _error_in_object(result: str) -> str | None:
    value = parsed(result)
    if not isinstance(value, dict):
        return None
    told = value.get("error")
    if told:
        return _error_text(told)
    if value.get("isError") is True or value.get("is_error") is True:
        return text_of(value.get("content")) or ""
    if value.get("status") == "error":
        return text_of(value.get("content", value.get("message"))) or ""
    return None


def _error_text(told: object) -> str:
    if isinstance(told, dict) and isinstance(told.get("message"), str):
        return str(told["message"])
    return text_of(told) or ""


_EMPTY_RESULTS = frozenset(
    {
        "",
        "[]",
        "{}",
        "null",
        "none",
        "no matches",
        "no matches found",
        "no match",
        "no results",
        "no results found",
        "no files found",
        "nothing found",
        "not found",
        "0 results",
        "0 matches",
    }
)
_EMPTY_CHARS = 40


def is_empty(result: str) -> bool:
    """Say whether a result tells that there was nothing to give.

    >>> is_empty("No matches found.")
    True
    """
    if len(result) > _EMPTY_CHARS:
        return False
    return result.strip().rstrip(".!").lower() in _EMPTY_RESULTS
