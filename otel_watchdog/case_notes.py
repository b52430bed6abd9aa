"""What is kept of one session's run to show a judge; bounded, and cheap to keep."""

from collections import deque
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from otel_watchdog.evidence.effects import nature_of
from otel_watchdog.evidence.exchanges import WRITE
from otel_watchdog.judges import Case
from otel_watchdog.model import (
    ModelTurn,
    Observation,
    RunEnded,
    RunStarted,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)
from otel_watchdog.progress import canonical, is_ours, is_path_key
from otel_watchdog.redaction import redacted

MAX_NOTES: Final = 40
"""Calls and messages of a run that a judge is shown."""

MAX_CHARS: Final = 400
"""Of a text that are shown: most of its beginning, and its end."""

MAX_KEPT_CHARS: Final = 1200
"""Of a text that are kept: more, so that a secret is taken out whole before it is cut."""

MAX_TASK_CHARS: Final = 4000
MAX_FILES: Final = 100
"""Written files that are remembered; the oldest is forgotten first."""

MAX_OPEN: Final = 64
"""Calls without a result that are remembered, likewise."""


class _Note(NamedTuple):
    turn: int
    saying: str
    """With a place for each text."""
    texts: tuple[str, ...]


class Notes:
    """One session's run: the task, what there is, and what the agent did lately."""

    __slots__ = (
        "_calls",
        "agent",
        "asked",
        "calls",
        "has_ended",
        "is_asking",
        "lines",
        "now",
        "refused",
        "rules",
        "run",
        "since_time",
        "since_turn",
        "speaks",
        "task",
        "turn",
        "written",
    )

    def __init__(self) -> None:
        self.start("", None, None)

    def start(self, run: str, agent: str | None, now: float | None) -> None:
        """Begin a run."""
        self.run = run
        self.agent = agent
        self.turn = 0
        self.now = now
        self.task = ""
        self.lines: deque[_Note] = deque(maxlen=MAX_NOTES)
        self.calls: deque[tuple[int, str]] = deque(maxlen=MAX_NOTES)
        """Turn and tool."""
        self.written: dict[str, None] = {}
        self._calls: dict[str, str | None] = {}
        """Arguments of open calls, by id, else by tool."""
        self.has_ended = False
        self.since_turn = 0
        """The turn, and the time, since which all is quiet."""
        self.since_time = now
        self.asked = 0
        """Questions of this run."""
        self.is_asking = False
        self.rules = 0
        """What rules have found in this run."""
        self.speaks = 0
        """Verdicts of this run that something was said for."""
        self.refused: set[str] = set()
        """Limits that kept a question from being asked, each told of once."""

    def begin_waiting(self) -> None:
        """Count the quiet from now on."""
        self.since_turn, self.since_time = self.turn, self.now

    def observe(self, seen: Observation) -> None:
        """Take in the session's next fact."""
        if seen.time is not None:
            self.now = seen.time
        if isinstance(seen, RunStarted):
            self.start(seen.run, seen.agent, self.now)
            return
        self.turn = max(self.turn, seen.turn)
        if isinstance(seen, ModelTurn):
            said = seen.text or seen.reasoning
            if said:
                self._note(seen.turn, "says: {}", said)
        elif isinstance(seen, ToolCall):
            if len(self._calls) >= MAX_OPEN:
                del self._calls[next(iter(self._calls))]
            arguments = seen.arguments
            self._calls[seen.call_id or seen.name] = arguments and _kept(arguments)
            self.calls.append((seen.turn, seen.name))
        elif isinstance(seen, ToolResult):
            self._answer(seen)
        elif isinstance(seen, UserMessage):
            self._hear(seen)
        elif isinstance(seen, RunEnded):
            self.has_ended = True

    def case(self, session: str, deliverable: str) -> Case:
        """Return what a judge is shown, without secrets."""
        return Case(
            session=session,
            run=self.run,
            agent=self.agent,
            turn=self.turn,
            task=redacted(self.task),
            deliverable=deliverable,
            exists=tuple(redacted(path) for path in self.written),
            activity=tuple(_line(note) for note in self.lines),
        )

    def has_written(self, pattern: str) -> bool:
        """Say whether the trace shows that a file of this pattern was written."""
        return any(fits(path, pattern) for path in self.written)

    def _note(self, turn: int, saying: str, *texts: str) -> None:
        self.lines.append(_Note(turn, saying, tuple(_kept(text) for text in texts)))

    def _answer(self, seen: ToolResult) -> None:
        key = seen.call_id if seen.call_id in self._calls else seen.name
        arguments = self._calls.pop(key or seen.name, None)
        asked = "arguments not captured" if arguments is None else arguments
        got = seen.error or seen.result
        said = "result not captured" if got is None else got
        saying = f"calls {{}} with {{}}: {seen.outcome.value}: {{}}"
        self._note(seen.turn, saying, seen.name, asked, said)
        if arguments is not None and seen.outcome is ToolOutcome.OK:
            self._take_down_files(seen.name, arguments)

    def _take_down_files(self, tool: str, arguments: str) -> None:
        if nature_of(tool).effect is not WRITE:
            return
        for name, value in (canonical(arguments)[0] or {}).items():
            if is_path_key(name) and isinstance(value, str) and value:
                self.written.pop(value, None)
                self.written[value[:MAX_CHARS]] = None
        while len(self.written) > MAX_FILES:
            del self.written[next(iter(self.written))]

    def _hear(self, seen: UserMessage) -> None:
        if is_ours(seen) or not seen.text:
            return
        if not self.lines and not self.calls:
            said = f"{self.task}\n{seen.text}" if self.task else seen.text
            self.task = said[:MAX_TASK_CHARS]
        else:
            self._note(seen.turn, "is told by the user: {}", seen.text)
        self.begin_waiting()


def fits(path: str, pattern: str) -> bool:
    """Say whether a file is of a pattern, by its whole path, its end or its name.

    >>> fits("/srv/out/report.md", "out/*.md"), fits("notes.md", "out/*.md")
    (True, False)
    """
    return fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}")


def _kept(text: str) -> str:
    if len(text) <= MAX_KEPT_CHARS:
        return text
    return f"{text[: MAX_KEPT_CHARS - 400]} … {text[-400:]}"


def _line(note: _Note) -> str:
    texts = (_shown(text) for text in note.texts)
    return f"turn {note.turn}: {note.saying.format(*texts)}"


def _shown(text: str) -> str:
    """Return a text in one line, without secrets, its middle left out where it is long."""
    text = " ".join(redacted(text).split())
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 100]} … {text[-100:]}"
