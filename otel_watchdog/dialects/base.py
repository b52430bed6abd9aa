"""What a dialect is."""

from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from otel_watchdog.spans import LogRecord, Reading, Span


class Dialect(Protocol):
    """Reads the spans of one instrumentation.

    A dialect keeps nothing between spans and reads plain values, so the same one serves live
    spans, recorded ones and the fleet service. What is not in a span stays `None`.
    """

    name: ClassVar[str]
    """Stable id, snake_case, of the instrumentation or convention."""

    scopes: ClassVar[tuple[str, ...]]
    """Beginnings of the names of instrumentation scopes that speak it; where several dialects
    could read a span, one whose scope matches is asked first."""

    prefixes: ClassVar[tuple[str, ...]]
    """Beginnings of the attribute names that give it away in any other scope."""

    def read(self, span: Span) -> Reading | None:
        """Read one span, open or ended; `None` if it is not in this dialect.

        An open span (`span.end is None`) has the attributes that it was started with: a reading
        of it may lack what comes later, and must not be wrong.
        """
        ...


@runtime_checkable
class ReadsLogs(Protocol):
    """What a dialect also meets whose instrumentation writes content into log records."""

    def read_log(self, log: LogRecord) -> Reading | None:
        """Read one log record; `None` if it is not in this dialect, or adds nothing.

        A `ToolReading` is a call that ended; it should have the call's id. A `ModelReading` with
        messages adds to the model span that the record was written in; one without counts as a
        turn where the trace tells of none.
        """
        ...


class Switch(NamedTuple):
    """What to set, and in what, so that spans carry the content that detectors need."""

    setting: str
    """Exactly as it is written: a variable with its value, or a line of code."""
    shows: str
    """What it makes visible."""
    scopes: tuple[str, ...] = ("",)
    """Beginnings of the names of the instrumentation scopes that it is for."""


def switches_of(dialect: Dialect | type[Dialect], scope: str) -> list[Switch]:
    """Return the switches that a dialect knows for a scope: its class attribute `switches`."""
    known: tuple[Switch, ...] = getattr(dialect, "switches", ())
    return [switch for switch in known if scope.startswith(switch.scopes)]
