"""The record of one finished tool call: what was asked, what came of it, what it changed."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

import orjson

from otel_watchdog.evidence.likeness import values_of, words_of
from otel_watchdog.model import ToolOutcome

MAX_WORD_CHARS: Final = 4000
"""Of a result that are parted into words."""


class Effect(Enum):
    """What a tool call may do to the world."""

    READ = "read"
    WRITE = "write"
    EXECUTE = "execute"
    """It runs something; what that does is not known."""
    WAIT = "wait"
    THINK = "think"
    """It changes nothing but the agent's own notes; neither progress nor the lack of it."""
    HAND_OFF = "hand_off"
    UNKNOWN = "unknown"


class Trouble(Enum):
    """Whose fault an error is, where that decides what may be said about it."""

    SERVER = "server"
    """Overload, rate limits, refused connections: waiting may help, so it never counts as stuck."""
    AUTH = "auth"
    """The credential is refused: no repetition can help."""


# Each name is looked up once: reading a member off its enumeration costs more than most that is
# done with it, on the traced program's thread.
OK: Final = ToolOutcome.OK
EMPTY: Final = ToolOutcome.EMPTY
ERROR: Final = ToolOutcome.ERROR
REFUSED: Final = ToolOutcome.REFUSED
UNKNOWN: Final = ToolOutcome.UNKNOWN
READ: Final = Effect.READ
WRITE: Final = Effect.WRITE
EXECUTE: Final = Effect.EXECUTE
WAIT: Final = Effect.WAIT
THINK: Final = Effect.THINK
HAND_OFF: Final = Effect.HAND_OFF
UNCLEAR: Final = Effect.UNKNOWN
SERVER: Final = Trouble.SERVER
AUTH: Final = Trouble.AUTH


class Call(NamedTuple):
    """Who a tool call is: two calls are the same if their keys are."""

    name: str
    key: str
    """Tool and canonical arguments; unique where the arguments were not captured."""
    arguments: Mapping[str, Any] | None
    """The cleaned arguments, where they are a JSON object."""


class Exchange:
    """One finished call, read once and asked by all detectors.

    Not frozen: it is made on the traced program's thread for each call, and what few detectors ask
    for is worked out when they do.
    """

    __slots__ = (
        "_arguments",
        "_lines",
        "_values",
        "_words",
        "batch",
        "digest",
        "effect",
        "epoch",
        "era",
        "error",
        "gap",
        "identity",
        "in_batch",
        "is_echo",
        "is_idle",
        "is_known",
        "is_new",
        "is_novel",
        "is_poll",
        "is_shell",
        "key",
        "last",
        "low",
        "news",
        "number",
        "outcome",
        "pair",
        "raw",
        "signature",
        "text",
        "time",
        "tool",
        "trouble",
    )

    def __init__(self) -> None:
        self._lines: list[str] | None = None
        self._values: list[str] | None = None
        self._words: frozenset[str] | None = None

    tool: str
    key: str
    """Tool and canonical arguments, as they are shown."""
    number: int
    """Which finished call of the session it is, from 1; thinking and waiting count, too."""
    identity: str | None
    """Tool and arguments in one spelling; `None` where the arguments were not captured."""
    _arguments: Mapping[str, Any] | str | None
    """As JSON, once they are hardly asked for."""
    text: str
    """The result without request ids and clocks around it, cut in its middle if long."""
    raw: int | None
    """Digest of the whole result as it came; `None` if not captured."""
    digest: int | None
    """The same for two results that differ in volatile tokens alone; `None` if not captured."""
    pair: tuple[str, int] | None
    """Identity and digest: what was asked, what came of it; `None` where one is not known."""
    time: float | None
    """When the call was made, in seconds; `None` where the trace does not say."""
    outcome: ToolOutcome
    """Also read from what the result says."""
    error: str | None
    """Of an error: the line that tells what went wrong."""
    signature: str | None
    """Of an error: what stays the same of it, whatever was called."""
    trouble: Trouble | None
    effect: Effect
    is_known: bool
    """Both the question and the answer were captured."""
    is_idle: bool
    """It only waited or thought: neither progress nor the lack of it."""
    is_poll: bool
    """It asks how something is getting on."""
    is_shell: bool
    is_echo: bool
    """A program that prints nothing but what stood in its own text."""
    is_new: bool
    """The session had not seen the result before, or it was not captured."""
    is_novel: bool
    """It changed something anew: an edit never made before, or fewer failures than ever."""
    low: int | None
    """How many failures the result tells of, where it does."""
    last: "Exchange | None"
    """The one before with the same identity, if it is remembered; has none itself."""
    gap: float | None
    """Seconds since the same call ended last; `None` where unknown or never made."""
    batch: int
    """Calls of one decision share it."""
    in_batch: bool
    """Whether the call before belongs to the same decision."""
    epoch: int
    """Rises with every novel change and every message of a user: what was asked before may now be
    answered differently."""
    era: int
    """Rises with every message of a user alone."""
    news: int
    """How many results the session had never seen before, this one included."""

    def condense(self) -> None:
        """Keep what can be worked out again in little room: the call is none of the latest."""
        self._lines = self._values = self._words = None
        if self._arguments is not None and not isinstance(self._arguments, str):
            # What `dumps` returns stands where there was room for more, which is lost between them.
            self._arguments = orjson.dumps(self._arguments).decode()

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """As a JSON object; `None` where they are none or were not captured."""
        kept = self._arguments
        if isinstance(kept, str):
            found: Mapping[str, Any] = orjson.loads(kept)
            return found
        return kept

    @arguments.setter
    def arguments(self, arguments: Mapping[str, Any] | None) -> None:
        self._arguments = arguments

    @property
    def values(self) -> list[str]:
        """The texts among the arguments."""
        if self._values is None:
            self._values = values_of(self.arguments)
        return self._values

    @property
    def words(self) -> frozenset[str]:
        """The words of the result's beginning, in lower case."""
        if self._words is None:
            self._words = words_of(self.text[:MAX_WORD_CHARS])
        return self._words

    @property
    def lines(self) -> list[str]:
        """The result's lines."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines
