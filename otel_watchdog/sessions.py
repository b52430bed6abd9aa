"""Which session and run a span belongs to; bounded, and right in any order of spans.

Spans come as they start and end, from several threads, late, doubled, without parents. The tree
of open spans says where one belongs:

- Its run is the nearest span above that is an agent's run. Where there is none, all spans of one
  conversation, else of one trace, make up one run for each agent. A tool span is the run of the
  agent that works inside the tool, where that has no span of its own.
- Its session is the conversation's part of the run's agent: agents that share a conversation
  have a session each.
- Of spans that stand for the same thing, the outermost counts: a model span in or beside one of
  another instrumentation, a tool span in another of that tool.

An open span is only put into the tree; it is read when one below it ends and asks whose it is.
"""

from collections.abc import Callable
from typing import Any

from otel_watchdog.model import Observation
from otel_watchdog.spans import (
    LogRecord,
    ModelReading,
    PartReading,
    Reading,
    RunReading,
    Span,
    ToolReading,
    merge,
)
from otel_watchdog.streams.doubles import Doubles
from otel_watchdog.streams.residence import Residence
from otel_watchdog.streams.runs import Run, Session
from otel_watchdog.streams.span_tree import (
    Node,
    SpanTree,
    add_messages,
    complete,
    is_double,
    same_tool,
)


class Sessions:
    """Makes one ordered stream of observations a session out of what dialects read.

    Not thread-safe but for `open`: the caller holds a lock.

    Args:
        read: Reads an open span; `None` while it says nothing.
        max_sessions: Sessions kept; the least recently heard of is dropped first.
        ttl_seconds: Seconds of silence after which a session is forgotten.
        max_open_spans: Open spans kept; the oldest is dropped first.
    """

    def __init__(
        self,
        read: Callable[[Any], Reading | None],
        *,
        max_sessions: int = 1024,
        ttl_seconds: float = 3600.0,
        max_open_spans: int = 10_000,
    ) -> None:
        self._read = read
        self._tree = SpanTree(max_open_spans)
        self._residence = Residence(max_sessions=max_sessions, ttl_seconds=ttl_seconds)
        self.open_spans = self._tree.open_spans
        """By span id, oldest first."""
        self.open = self._tree.open
        self.close = self._tree.close
        self._doubles = Doubles()

    @property
    def dropped(self) -> int:
        """Open spans and sessions that were dropped for their number."""
        return self._tree.dropped + self._residence.dropped

    def observe(self, node: Node, span: Span, reading: Reading | None) -> list[Observation]:
        """Return what an ended span adds to its session, in order.

        Args:
            node: What `close` returned for it.
            span: The span.
            reading: What was read of it.
        """
        told: list[Observation] = []
        if type(reading) is ToolReading:
            self._observe_tool(node, span, reading, told)
        elif type(reading) is ModelReading:
            told = self._observe_model(node, span, reading)
        elif reading is None and node.parent is None:
            self._doubles.pass_on(span)
        elif type(reading) is RunReading:
            told = self._observe_run(node, span, reading)
        parent = node.parent
        if parent is not None and parent.children and node.ended is None:
            parent.children.pop(node.span_id, None)
        if node.holds:
            told += self._release(node, None)
        return told

    def observe_log(self, log: LogRecord, reading: Reading) -> list[Observation]:
        """Return what a log record adds to its session, in order.

        Args:
            log: The record.
            reading: What was read of it.
        """
        around = self.open_spans.get(log.parent_id) if log.parent_id is not None else None
        told: list[Observation] = []
        if isinstance(reading, ModelReading):
            if reading.output is not None or reading.history is not None:
                if around is not None:
                    before = around.logged
                    known = before if isinstance(before, ModelReading) else None
                    around.logged = add_messages(known, reading)
                return told
        elif type(reading) is not ToolReading or not reading.name:
            return told
        if type(reading) is ToolReading and around is not None and self._adds_to(around, reading):
            return told
        node = Node(log.span_id, around, None, None)
        run = self._run(node, self._owner(node), log, reading, told)
        if type(reading) is ToolReading:
            reading.partial = reading.partial and around is not None
            run.tool(log, reading, run.calls.find(reading), told)
        elif isinstance(reading, ModelReading):
            told += run.logged_turn(log, reading)
        return told

    def _adds_to(self, around: Node, reading: ToolReading) -> bool:
        """Say whether what a log record tells of a call was added to the call's open span."""
        for node in (around, *(around.children or {}).values()):
            own = node.reading or self._reading(node)
            if type(own) is not ToolReading or own.call_id != reading.call_id:
                continue
            if node.ended is not None:
                merge(node.ended[1], reading)
                node.ended[1].partial = False
                return True
            if reading.call_id is not None:
                node.logged = reading
                return True
        return False

    def find(self, conversation: str | None, agent: str | None = None) -> str | None:
        """Return the key of the session of an agent in a conversation; `None` if not seen."""
        return self._residence.find(conversation, agent)

    def find_around(self, trace_id: int, span_id: int, agent: str | None = None) -> str | None:
        """Return the key of the session of the agent that works in an open span; `None` if unsure.

        It is that of the nearest run above. A run or a tool call of which nothing was told yet
        hides what is above it: a sub-agent is not its parent.
        """
        node = self.open_spans.get(span_id)
        while node is not None:
            if node.run is not None:
                return node.run.session.key if node.run.session is not None else None
            reading = node.reading or (self._read(node.span) if node.span is not None else None)
            if isinstance(reading, RunReading | ToolReading):
                return None
            node = node.parent
        return self._residence.find_in_trace(trace_id, agent)

    def known(self) -> list[Session]:
        """Return the sessions that are kept, least recently heard of first."""
        return self._residence.known()

    def places(self) -> dict[str, str]:
        """Return where each session lives, by its key: a conversation's id, else a trace's."""
        return self._residence.places()

    def keep(self, is_own: Callable[[str], bool]) -> None:
        """Forget the sessions that live where `is_own` denies it."""
        self._residence.keep(is_own)

    def _observe_tool(
        self, node: Node, span: Span, reading: ToolReading, told: list[Observation]
    ) -> None:
        parent = node.parent
        owner = None if parent is None else self._tool_owner(parent, span, reading, told)
        if owner is not None and owner.run is None:
            return
        if not reading.name:
            return  # it only added to a span around it, if there was one
        if node.run is not None:
            told += node.run.end(span.end, None)
        if node.inner is not None:
            merge(reading, node.inner)
        if type(node.logged) is ToolReading:
            merge(reading, node.logged)
            reading.partial = False
        outer = None
        if parent is not None and parent.children and next(iter(parent.children)) != node.span_id:
            outer = self._beside(node, span, reading, told)
            if outer is not None and is_double(outer, reading):
                return
        run = self._run(node, owner, span, reading, told)
        call = run.calls.find(reading)
        if outer is not None and call is None and parent is not None:
            node.ended = (span, reading)
            parent.holds += 1
            return
        run.tool(span, reading, call, told)
        if parent is not None and parent.holds:
            told += self._release(parent, node)

    def _tool_owner(
        self, around: Node, span: Span, reading: ToolReading, told: list[Observation]
    ) -> Node | None:
        """Return the run's span around a tool span, or the tool's whose part it is, if any.

        Args:
            around: The span right above it.
            span: The tool's span.
            reading: What was read of it.
            told: Gets what is to be told first.
        """
        owner: Node | None = around
        while owner is not None:
            above = owner.reading or self._reading(owner)
            if owner.run is not None:
                return owner
            if type(above) is ToolReading:
                if same_tool(above.name, reading.name):
                    owner.inner = reading
                return owner
            if isinstance(above, ModelReading):
                self._begin_turn(owner, span, above, told)
            elif type(above) is PartReading and above.step:
                reading.step = owner.span_id
            owner = owner.parent
        return None

    def _beside(
        self, node: Node, span: Span, reading: ToolReading, told: list[Observation]
    ) -> Node | None:
        """Return a tool span beside `node` that began earlier and has not ended.

        One that stands for the same call goes first. A model span that began earlier is the turn
        of this tool: some end after the tools that they ask for.
        """
        found: Node | None = None
        for sibling in node.earlier():
            beside = sibling.reading or self._reading(sibling)
            if type(beside) is ToolReading:
                if is_double(sibling, reading):
                    sibling.inner = reading
                    return sibling
                found = sibling
            elif isinstance(beside, ModelReading):
                self._begin_turn(sibling, span, beside, told)
        return found

    def _begin_turn(
        self, node: Node, span: Span, reading: ModelReading, told: list[Observation]
    ) -> None:
        """Count the turn of a model span that has not ended yet, but whose tools have."""
        if node.turn is None:
            owner = self._owner(node)
            node.turn = self._run(node, owner, span, reading, told).begin_turn()

    def _release(self, parent: Node, until: Node | None) -> list[Observation]:
        """Tell of ended tool spans that waited, up to one that is still open.

        Args:
            parent: Whose children they are.
            until: The span that has just ended; `None`: wait for nothing any more.
        """
        told: list[Observation] = []
        siblings = parent.children or {}
        for span_id, sibling in list(siblings.items()):
            if sibling.ended is not None:
                span, reading = sibling.ended
                run = self._run(sibling, self._owner(sibling), span, reading, told)
                run.tool(span, reading, run.calls.find(reading), told)
                parent.holds -= 1
                del siblings[span_id]
            elif until not in (None, sibling) and type(self._reading(sibling)) is ToolReading:
                break
        return told

    def _observe_model(self, node: Node, span: Span, reading: ModelReading) -> list[Observation]:
        told: list[Observation] = []
        owner = node.parent
        while owner is not None:
            above = owner.reading or self._reading(owner)
            if owner.run is not None:
                break
            if isinstance(above, ModelReading):
                return told
            if type(above) is ToolReading:
                if reading.output and not any(message.calls for message in reading.output):
                    return told  # a tool that asks a model is no agent
                owner.run = Run(owner.span_id)
                break
            owner = owner.parent
        if self._is_inside(node, reading):
            return told
        if type(node.logged) is ModelReading:
            complete(reading, node.logged)
        run = self._run(node, owner, span, reading, told)
        if node.parent is not None and node.parent.holds:
            told += self._release(node.parent, None)
        if node.parent is None and self._doubles.is_told(span, reading.scope):
            return told + run.model_again(span, reading)
        return told + run.model(span, reading, node.turn)

    def _is_inside(self, node: Node, reading: ModelReading) -> bool:
        """Say whether an open model span beside it, of another instrumentation, began earlier."""
        for beside in node.earlier():
            other = beside.reading or self._reading(beside)
            if isinstance(other, ModelReading) and other.scope != reading.scope:
                return True
        return False

    def _observe_run(self, node: Node, span: Span, reading: RunReading) -> list[Observation]:
        run = node.run or self._residence.adopt(span, reading, outermost=node.parent is None)
        if run is None:
            return []
        told = self._release(node, None) if node.holds else []
        self._residence.bind(run, reading)
        self._residence.remember(span.span_id, run)
        return told + run.end(span.end, reading.error)

    def _owner(self, node: Node) -> Node | None:
        """Return the nearest open span around it that is a run."""
        for above in node.above():
            if self._reading(above) is not None and above.run is not None:
                return above
        return None

    def _reading(self, node: Node) -> Reading | None:
        if node.reading is None and node.span is not None:
            node.reading = self._read(node.span)
            if isinstance(node.reading, RunReading) and node.run is None:
                node.run = Run(node.span_id)
        return node.reading

    def _run(
        self,
        node: Node,
        owner: Node | None,
        span: Span,
        reading: ToolReading | ModelReading,
        told: list[Observation],
    ) -> Run:
        """Find or make the run that a model or tool span belongs to; tell of its start."""
        run = owner.run if owner is not None else None
        if run is None:
            run = self._residence.run(span, reading)
        session = run.session
        if session is None:
            run.session = session = self._residence.session(
                span,
                conversation=reading.session or self._conversation(node),
                agent=_agent(owner, reading),
            )
        elif session.conversation is None and reading.session:
            self._residence.bind(run, reading)
        session.seen = span.start
        if not run.started:
            around = owner.above() if owner is not None else ()
            told += run.start(span.start, next((one.run for one in around if one.run), None))
        return run

    def _conversation(self, node: Node) -> str | None:
        """Return the conversation's id that a span above carries."""
        for above in node.above():
            reading = self._reading(above)
            if reading is not None and reading.session:
                return reading.session
        return None


def _agent(owner: Node | None, reading: ToolReading | ModelReading) -> str | None:
    """Return the name of the agent whose run stands in `owner`."""
    own = owner.reading if owner is not None else None
    if type(own) is ToolReading:
        return reading.agent if reading.agent not in (None, own.agent) else own.name
    return (own.agent if own is not None else None) or reading.agent
