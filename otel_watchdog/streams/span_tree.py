"""The tree of open spans: which span stands in which, and what was made of each."""

from typing import TYPE_CHECKING, Any

from otel_watchdog.reading.histories import MessageHistory
from otel_watchdog.spans import ModelReading, Reading, Span, ToolReading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from otel_watchdog.streams.runs import Run


class Node:
    """An open span.

    Most that it can hold it never does, so that stands in the class until it is set.
    """

    reading: "Reading | None" = None
    run: "Run | None" = None
    """The run that this span is; of a tool span, that of the agent inside the tool."""
    turn: int | None = None
    """The turn that this span is, once it was counted."""
    inner: ToolReading | None = None
    """What an inner span of the same tool call told."""
    logged: ModelReading | ToolReading | None = None
    """What log records told of this model or tool span."""
    ended: tuple[Span, ToolReading] | None = None
    """Set while an ended tool span waits for one that began earlier."""
    children: "dict[int, Node] | None" = None
    """Open spans right below, and ended tool spans that wait; in the order they began."""
    holds: int = 0
    """How many of the children wait."""

    def __init__(self, span_id: int, parent: "Node | None", span: Any, context: Any) -> None:
        self.span_id = span_id
        self.parent = parent
        self.span = span
        """What to read it from, as long as nothing was read."""
        self.context = context
        """The context it began in; carried for who writes beside it."""

    def above(self) -> "Iterator[Node]":
        """Yield the open spans around it, the nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def earlier(self) -> "Iterator[Node]":
        """Yield the open spans beside it that began before it."""
        siblings = self.parent.children if self.parent is not None else None
        for sibling in list(siblings.values()) if siblings else ():
            if sibling is self:
                return
            if sibling.ended is None:
                yield sibling


class SpanTree:
    """Open spans by id; bounded.

    Args:
        max_open_spans: Open spans kept; the oldest is dropped first.
    """

    def __init__(self, max_open_spans: int) -> None:
        self._max_open_spans = max_open_spans
        self.open_spans: dict[int, Node] = {}
        """By span id, oldest first."""
        self.dropped = 0
        """Open spans that were dropped for their number."""

    def open(self, span_id: int, parent_id: int | None, span: Any, context: Any = None) -> None:
        """Put a span that began into the tree.

        Args:
            span_id: Its id.
            parent_id: Its parent's; `None` for a root.
            span: What it can be read from; `None` for a span that says nothing.
            context: Kept on its node.
        """
        opened = self.open_spans
        parent = opened.get(parent_id) if parent_id is not None else None
        opened[span_id] = node = Node(span_id, parent, span, context)
        if parent is not None and span is not None:
            if parent.children is None:
                parent.children = {}
            parent.children[span_id] = node
        if len(opened) > self._max_open_spans:
            oldest = opened.pop(next(iter(opened)))
            if oldest.parent is not None and oldest.parent.children:
                oldest.parent.children.pop(oldest.span_id, None)
            self.dropped += 1

    def close(self, span_id: int, parent_id: int | None) -> Node:
        """Take a span that ended out of the tree; it need not have been seen to begin."""
        node = self.open_spans.pop(span_id, None)
        if node is None:
            parent = self.open_spans.get(parent_id) if parent_id is not None else None
            return Node(span_id, parent, None, None)
        return node


def same_tool(outer: str, inner: str) -> bool:
    """Say whether two names are one tool's: some put a server or plug-in before it."""
    return outer == inner or outer.endswith(inner) or inner.endswith(outer)


def is_double(outer: Node, reading: ToolReading) -> bool:
    """Say whether a tool span in or beside `outer` stands for the same call."""
    other = outer.reading
    return (
        type(other) is ToolReading
        and other.scope != reading.scope
        and same_tool(other.name, reading.name)
        and outer.inner in (None, reading)
    )


def add_messages(before: ModelReading | None, more: ModelReading) -> ModelReading:
    """Return what log records told of a model call until now, `more` included."""
    if before is None:
        return more
    before.output = [*(before.output or ()), *(more.output or ())] or None
    known, added = before.history, more.history
    if isinstance(known, MessageHistory) and isinstance(added, MessageHistory):
        before.history = MessageHistory([*known.messages, *added.messages])
    else:
        before.history = added or known
    return before


def complete(reading: ModelReading, logged: ModelReading) -> None:
    """Add the messages that log records told of to a model span that lacks them."""
    if not reading.output:
        reading.output = logged.output
    if logged.history is not None:
        reading.history = logged.history if _is_bare(reading) else reading.history


def _is_bare(reading: ModelReading) -> bool:
    history = reading.history
    return history is None or not history.since(None)[0]
