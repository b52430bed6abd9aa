"""Spans that open and close by name, one tick of the clock each."""

from otel_watchdog.scopes import Scopes
from otel_watchdog.sessions import Sessions
from otel_watchdog.spans import RecordedSpan

AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fixer"}


MODEL = {"gen_ai.operation.name": "chat"}


TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read"}


class Trace:
    """Opens and closes spans by name, one tick of the clock each."""

    def __init__(self, **options):
        self.scopes = Scopes()
        self.sessions = Sessions(self._read, **options)
        self.spans = {}
        self.now = 0.0

    def _read(self, span):
        return self.scopes.read(self.scopes[span.scope], span)

    def open(self, name, attributes=None, parent=None, scope="app", trace_id=1):
        """Begin a span."""
        self.now += 1
        self.spans[name] = RecordedSpan(
            name=name,
            scope=scope,
            trace_id=trace_id,
            span_id=len(self.spans) + 1,
            parent_id=self.spans[parent].span_id if parent else None,
            attributes=dict(attributes or {}),
            start=self.now,
        )
        span = self.spans[name]
        self.sessions.open(span.span_id, span.parent_id, span)

    def close(self, name, *, failed=None, **attributes):
        """End a span, with more attributes; return what it adds."""
        self.now += 1
        span = self.spans[name]
        span.attributes = span.attributes | {k.replace("__", "."): v for k, v in attributes.items()}
        span.end = self.now
        span.is_error = failed
        node = self.sessions.close(span.span_id, span.parent_id)
        return self.sessions.observe(node, span, self._read(span))

    def add(self, name, attributes=None, parent=None, scope="app", **more):
        """Begin a span and end it at once; return what it adds."""
        self.open(name, attributes, parent, scope)
        return self.close(name, **more)


def tool(call_id=None, **more):
    """Return the attributes of a tool span."""
    return TOOL | ({"gen_ai.tool.call.id": call_id} if call_id else {}) | more
