"""Reads the spans and log records of OpenAI's Codex CLI."""

import re
from typing import ClassVar, Final

from otel_watchdog import instrumentations as names
from otel_watchdog.dialects.base import Switch
from otel_watchdog.reading.content import attribute_text, string
from otel_watchdog.reading.wrappings import Answer, request_of
from otel_watchdog.spans import (
    Failure,
    LogRecord,
    ModelReading,
    PartReading,
    Reading,
    Span,
    ToolReading,
    tool_reading,
)

_SCOPE: Final = "codex"
_MODEL: Final = "codex.sampling"
_HEAD = re.compile(r"\A(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?", re.MULTILINE)
"""Lines before a command's output that differ each time it runs."""


class Codex:
    """Log records with `event.name`, and a few of some 1,500 internal spans.

    Who: Codex CLI with `[otel]` in its configuration. Arguments and results stand in log records
    only; everything is joined by the conversation's id and the call's. A command that failed is a
    success with `Process exited with code N` in its text.
    """

    name: ClassVar[str] = "codex"
    scopes: ClassVar[tuple[str, ...]] = ("codex_",)
    prefixes: ClassVar[tuple[str, ...]] = ("codex.",)
    switches: ClassVar[tuple[Switch, ...]] = (
        Switch(
            "[otel] exporter = { otlp-http = { … } }",
            "arguments and results, in log records (config.toml)",
        ),
    )

    def read(self, span: Span) -> Reading | None:
        """See `Dialect.read`."""
        if not span.scope.startswith(_SCOPE):
            return None
        attributes = span.attributes
        session = string(attributes, names.CONVERSATION_ID)
        if span.name == _MODEL:
            return ModelReading(model=string(attributes, "model"), session=session)
        if attributes.get(names.CODEX_TOOL_PHASE) != "dispatch":
            return PartReading(session=session) if session is not None else None
        return ToolReading(
            string(attributes, "tool_name") or span.name,
            string(attributes, "call_id"),
            session=session,
            partial=True,
        )

    def read_log(self, log: LogRecord) -> Reading | None:
        """See `ReadsLogs.read_log`."""
        if not log.scope.startswith(_SCOPE):
            return None
        attributes = log.attributes
        session = string(attributes, names.CONVERSATION_ID)
        if log.name == "codex.api_request":
            return ModelReading(model=string(attributes, "model"), session=session)
        if log.name != "codex.tool_result":
            return None
        output = attribute_text(attributes.get("output"))
        return tool_reading(
            log,
            string(attributes, "tool_name") or "",
            request_of(attributes.get("arguments")),
            Answer(_HEAD.sub("", output) if output is not None else None),
            call_id=string(attributes, "call_id"),
            session=session,
            failure=_failure(log),
        )


def _failure(log: LogRecord) -> Failure:
    if log.attributes.get("success") in ("false", False):  # a list is no member of a set
        return Failure(failed=True, source="success")
    return Failure()
