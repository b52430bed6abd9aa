"""The evidence that all detectors of a session share: who called what, and what came of it.

The engine shows every observation to `Progress` first; a detector then asks it instead of
parsing by itself. Rules: canonical arguments as in the go-steer/core-agent watchdog, always parsed
and written anew, because the order of keys depends on who recorded them.
"""

import posixpath
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
import xxhash

from otel_watchdog.evidence.exchanges import Call, Exchange
from otel_watchdog.evidence.failures import declares_no_op
from otel_watchdog.evidence.ledger import Asked, Ledger
from otel_watchdog.evidence.recent import add
from otel_watchdog.model import (
    MARKER,
    ModelTurn,
    Observation,
    ToolCall,
    ToolOutcome,
    ToolResult,
    UserMessage,
)

if TYPE_CHECKING:
    from otel_watchdog.evidence.teams import Team

MAX_OPEN_CALLS: Final = 64
"""Calls without a result that a session remembers; the oldest is forgotten first."""

MAX_BEHIND: Final = 64
"""Finished calls that wait for somebody to ask about them; the oldest is forgotten first."""

MAX_BEHIND_CHARS: Final = 65_536
"""Text of results that waits likewise; the newest result waits however long it is."""

_KEPT_BEHIND: Final = 48
"""Of `MAX_BEHIND`, after some were forgotten: not one by one, on the traced program's thread."""

PATH_KEYS: Final = frozenset({"target", "source", "destination", "src", "dst", "cwd"})
"""Argument names whose text values are paths; so are those that hold a word of `PATH_WORDS`."""

PATH_WORDS: Final = ("path", "file", "dir", "folder")

_UNKNOWN: Final = ToolOutcome.UNKNOWN


class Result(NamedTuple):
    """What came of a tool call."""

    name: str
    outcome: ToolOutcome
    digest: int | None
    """Of the whole result; `None` where it is empty or was not captured."""
    no_op: bool
    """True where the tool itself declares that it changed nothing."""
    error: str | None


class Progress:
    """What one session's calls and results amount to.

    >>> progress = Progress()
    >>> progress.observe(ToolCall(session="s", turn=1, name="ls", arguments='{"path": "./a"}'))
    >>> progress.call.arguments
    {'path': 'a'}
    """

    __slots__ = (
        "_batch",
        "_batch_turn",
        "_behind",
        "_behind_chars",
        "_exchange",
        "_is_asking",
        "_ledger",
        "_open",
        "call",
        "calls",
        "calls_with_arguments",
        "result",
        "results",
        "results_with_content",
        "results_with_outcome",
        "team",
        "turns",
        "turns_with_text",
    )

    def __init__(self) -> None:
        self.call = Call("", "", None)
        """The latest call."""
        self.result = Result("", ToolOutcome.UNKNOWN, None, False, None)  # noqa: FBT003 - a tuple
        """The latest result."""
        self.calls = 0
        self.calls_with_arguments = 0
        self.results = 0
        self.results_with_content = 0
        self.results_with_outcome = 0
        self.turns = 0
        self.turns_with_text = 0
        self.team: Team | None = None
        """Whom its agent works with; `None` where the trace does not say."""
        self._exchange: Exchange | None = None
        self._ledger = Ledger()
        self._behind: list[tuple[Asked, ToolResult, int | None] | None] = []
        """What the ledger has not been told; `None`: a user has spoken."""
        self._behind_chars = 0
        self._open: list[Asked] = []
        self._batch = 0
        self._batch_turn: int | None = None
        """The turn all of whose calls are one decision; `None` where the trace does not say."""
        self._is_asking = False

    @property
    def exchange(self) -> Exchange | None:
        """The latest finished call; `None` before the first.

        It is worked out when it is asked for: rules that look at calls alone do not pay for it.
        """
        if self._behind:
            self._catch_up()
        return self._exchange

    @property
    def news(self) -> int:
        """How many results brought something never seen in this session."""
        return self._told().news

    @property
    def era(self) -> int:
        """How many times a user has spoken."""
        return self._told().era

    @property
    def epoch(self) -> int:
        """How many times something has changed, or a user has spoken."""
        return self._told().epoch

    def latest(self, identity: str) -> Exchange | None:
        """Return the record of a call as it finished last; `None` if it is not remembered."""
        return self._told().latest(identity)

    def declare_poll(self) -> None:
        """Take the call that has just finished for one that asks how something is getting on."""
        if self.exchange is not None:
            self.exchange.is_poll = True

    def _told(self) -> Ledger:
        if self._behind:
            self._catch_up()
        return self._ledger

    def _catch_up(self) -> None:
        ledger = self._ledger
        for entry in self._behind:
            if entry is None:
                ledger.hear_user()
            else:
                self._exchange = ledger.finish(*entry)
        self._behind.clear()
        self._behind_chars = 0

    def observe(self, observation: Observation) -> None:
        """Take in the session's next fact."""
        if type(observation) is ToolCall:
            self._observe_call(observation)
        elif type(observation) is ToolResult:
            self._observe_result(observation)
        elif type(observation) is ModelTurn:
            self.turns += 1
            if observation.text is not None:
                self.turns_with_text += 1
            self._is_asking = False
            several = observation.tool_calls
            self._batch_turn = observation.turn if several is not None and several > 1 else None
        elif type(observation) is UserMessage and not is_ours(observation):
            self._behind.append(None)
            self._keep_bounds()

    def _observe_call(self, call: ToolCall) -> None:
        self.calls += 1
        name, given = call.name, call.arguments
        if given is None:
            found = Call(name, f"{name}\0?{self.calls}", None)
        else:
            self.calls_with_arguments += 1
            arguments, text = canonical(given)
            found = Call(name, f"{name}\0{text}", arguments)
        self.call = found
        if not self._is_asking:
            if self._batch_turn != call.turn:
                self._batch += 1
            self._is_asking = True
        asked = Asked(found, call.call_id, given is not None, call.time, self._batch)
        add(self._open, asked, MAX_OPEN_CALLS)

    def _observe_result(self, result: ToolResult) -> None:
        self.results += 1
        text, outcome = result.result, result.outcome
        digest = raw = None
        no_op = False
        if text is not None:
            self.results_with_content += 1
            if text:
                digest = raw = xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
                no_op = "no_op" in text and declares_no_op(text)
                self._behind_chars += len(text)
            else:
                raw = 0
        if outcome is not _UNKNOWN:
            self.results_with_outcome += 1
        self.result = Result(result.name, outcome, digest, no_op, result.error)
        self._is_asking = False
        behind = self._behind
        behind.append((self._answered(result), result, raw))
        if len(behind) > MAX_BEHIND or self._behind_chars > MAX_BEHIND_CHARS:
            self._keep_bounds()

    def _answered(self, result: ToolResult) -> Asked:
        """Return the call that a result belongs to: by id, else the oldest open one of its name."""
        call_id = result.call_id
        calls = self._open
        for place, asked in enumerate(calls):
            if asked.call_id == call_id and (call_id is not None or asked.call.name == result.name):
                del calls[place]
                return asked
        self._batch += 1
        unasked = Call(result.name, "", None)
        return Asked(unasked, None, is_known=False, time=result.time, batch=self._batch)

    def _keep_bounds(self) -> None:
        """Forget what has waited longest for somebody to ask, where too much waits."""
        behind = self._behind
        kept = len(behind) if len(behind) <= MAX_BEHIND else _KEPT_BEHIND
        while len(behind) > 1 and (len(behind) > kept or self._behind_chars > MAX_BEHIND_CHARS):
            oldest = behind.pop(0)
            self._behind_chars -= len(oldest[1].result or "") if oldest is not None else 0


def is_ours(message: UserMessage) -> bool:
    """Say whether a message is a correction of ours: nobody has spoken."""
    return message.text is not None and message.text.startswith(MARKER)


def canonical(arguments: str) -> tuple[Mapping[str, Any] | None, str]:
    """Return arguments as an object, paths cleaned, and as sorted compact JSON.

    What is no JSON object has no object form and stays as it is.

    >>> canonical('{"z": 1, "path": "./a//b.go"}')
    ({'z': 1, 'path': 'a/b.go'}, '{"path":"a/b.go","z":1}')
    >>> canonical("[2, 1]")
    (None, '[2, 1]')
    """
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return None, arguments
    if not isinstance(value, dict):
        return None, arguments
    for key, item in value.items():
        if type(item) is str and is_path_key(key):
            value[key] = clean_path(item)
    try:
        return value, orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # orjson reads deeper nesting than it writes
        return None, arguments


@lru_cache(maxsize=4096)
def is_path_key(key: str) -> bool:
    """Say whether an argument of this name holds a path.

    >>> is_path_key("file_path"), is_path_key("query")
    (True, False)
    """
    name = key.lower()
    return name in PATH_KEYS or any(word in name for word in PATH_WORDS)


def clean_path(path: str) -> str:
    """Return the shortest equal path, as Go's `path.Clean` does.

    >>> clean_path("//a/./b/../c/"), clean_path("")
    ('/a/c', '.')
    """
    if path and "//" not in path and "/." not in path and path[0] != "." and path[-1] != "/":
        return path
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned
