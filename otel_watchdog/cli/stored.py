"""Recordings by name: files, and traces that a review tool has stored."""

from typing import BinaryIO, Final

LANGFUSE: Final = "langfuse:"
"""Opens the name of a trace that Langfuse has stored; its id follows."""


def opened(name: str) -> str | BinaryIO:
    """Return what to read: a file's own name, or a stored trace.

    Raises:
        ConfigError: A package is missing, or the review tool's keys are.
        InputError: The review tool has no such trace, refused, or could not be reached.
    """
    if not name.startswith(LANGFUSE):
        return name
    from otel_watchdog.reviews import langfuse  # noqa: PLC0415 - an extra

    return langfuse.stored_trace(langfuse.client(), name.removeprefix(LANGFUSE))
