"""Which dialects read a span, found by its instrumentation scope and remembered."""

from collections.abc import Callable, Container, Sequence
from typing import Final

from otel_watchdog import semconv
from otel_watchdog.dialects import BUILT_IN, Dialect, ReadsLogs
from otel_watchdog.spans import LogRecord, Reading, Span

MAX_PLAIN_NAMES: Final = 512
"""Span names of one scope that are remembered as saying nothing."""

MAX_ERRORS: Final = 3
"""Errors of one dialect after which it is switched off."""


class Scope:
    """What is known of one instrumentation scope.

    A scope that a dialect names speaks from the start. Another one is tried by attribute names,
    once for each of its span names, and speaks from the first span that was in a dialect.
    """

    __slots__ = ("dialects", "log_dialects", "name", "plain", "speaks")

    def __init__(self, name: str, dialects: Sequence[Dialect]) -> None:
        self.name = name
        known = [d for d in dialects if name.startswith(d.scopes)]
        self.dialects = known + [d for d in dialects if d not in known]
        """Those to ask, in order."""
        self.speaks = bool(known)
        self.plain: Container[str] = set()
        """Names of its spans that say nothing: not worth reading."""
        if name == semconv.SCOPE:
            self.dialects = []  # also in recordings: a judge's call is no turn of the agent
            self.plain = _Everything()
        self.log_dialects = [d for d in self.dialects if isinstance(d, ReadsLogs)]


class _Everything:
    """Every span of our own says nothing."""

    def __contains__(self, _: object) -> bool:
        return True


class Scopes(dict[str, Scope]):
    """Reads spans in the dialect of their scope; a scope is made when it is first asked for.

    Args:
        dialects: To choose from, in order; default: all that are built in.
        on_error: Called when a dialect raises; one that does so three times is switched off.
            Default: what it raises comes through.
    """

    def __init__(
        self,
        dialects: Sequence[Dialect] | None = None,
        *,
        on_error: Callable[[str, Exception], None] | None = None,
    ) -> None:
        super().__init__()
        self.plain: dict[str, object] = {}
        """Names of spans that say nothing, with the scope that they are known to come from: the
        caller's own, compared by identity, for this is asked of every span of a program."""
        self._dialects = list(dialects if dialects is not None else (d() for d in BUILT_IN))
        self._on_error = on_error
        self._errors: dict[str, int] = {}

    def __missing__(self, name: str) -> Scope:
        scope = self[name] = Scope(name, self._dialects)
        return scope

    def is_plain(self, scope: Scope, name: str, of: object) -> bool:
        """Say whether a span says nothing; if so, remember it.

        Args:
            scope: Its scope.
            name: Its name.
            of: What the caller knows the scope by.
        """
        if name not in scope.plain:
            return False
        if isinstance(scope.plain, set):
            if len(self.plain) >= MAX_PLAIN_NAMES:
                self.plain.clear()
            self.plain[name] = of
            if scope.speaks:  # since another thread has read a span of it, just now
                self.plain.pop(name, None)
        return True

    def read(self, scope: Scope, span: Span) -> Reading | None:
        """Read a span in the first dialect that can; `None` if it is in none."""
        for dialect in scope.dialects:
            if not scope.speaks and not _hints(span, dialect):
                continue
            try:
                reading = dialect.read(span)
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
                self._count_error(dialect, error)
                continue
            if reading is not None:
                reading.scope = scope.name
                if not scope.speaks:
                    scope.speaks = True
                    scope.plain = frozenset()
                    self.plain.clear()
                return reading
        if not scope.speaks and span.end is not None and isinstance(scope.plain, set):
            if len(scope.plain) >= MAX_PLAIN_NAMES:
                scope.plain.clear()
            scope.plain.add(span.name)
        return None

    def read_log(self, log: LogRecord) -> Reading | None:
        """Read a log record in the first dialect that can; `None` if it is in none."""
        for dialect in self[log.scope].log_dialects:
            try:
                reading = dialect.read_log(log)
            except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
                self._count_error(dialect, error)
                continue
            if reading is not None:
                reading.scope = log.scope
                return reading
        return None

    def _count_error(self, dialect: Dialect, error: Exception) -> None:
        if self._on_error is None:
            raise error
        count = self._errors[dialect.name] = self._errors.get(dialect.name, 0) + 1
        if count >= MAX_ERRORS:
            self._dialects = [d for d in self._dialects if d is not dialect]
            for scope in self.values():
                scope.dialects = [d for d in scope.dialects if d is not dialect]
                scope.log_dialects = [d for d in scope.log_dialects if d is not dialect]
        self._on_error(dialect.name, error)


def _hints(span: Span, dialect: Dialect) -> bool:
    return any(key.startswith(dialect.prefixes) for key in span.attributes)
