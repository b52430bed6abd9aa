"""Is anything new? What one session's finished calls amount to, in bounded memory."""

import re
from collections.abc import Hashable
from sys import intern
from typing import Final, NamedTuple, TypeVar

import orjson
import xxhash

from otel_watchdog.evidence import failures, masks
from otel_watchdog.evidence.effects import doing_of
from otel_watchdog.evidence.exchanges import (
    EMPTY,
    ERROR,
    EXECUTE,
    OK,
    READ,
    THINK,
    UNCLEAR,
    WAIT,
    WRITE,
    Call,
    Exchange,
)
from otel_watchdog.evidence.masks import LearnedMasks
from otel_watchdog.evidence.shell import COMMAND_KEYS, listed
from otel_watchdog.model import ToolResult

MAX_SEEN: Final = 256
"""Results, and changes, that a session remembers."""

MAX_CALLS: Final = 64
"""Different calls whose last result is kept for comparison."""

MAX_TOOLS: Final = 16

VOLATILE_KEYS: Final = listed(
    "request_id requestId nonce trace_id timestamp idempotency_key correlation_id timeout "
    "timeout_ms timeout_seconds"
)
"""Arguments that do not change what is asked."""

LABEL_KEYS: Final = frozenset({"description", "explanation", "justification", "security_risk"})
"""Arguments of shell tools that speak about the command."""

_LENGTH_SLACK: Final = 48
_ECHO_CHARS: Final = 4000
_MIN_COMPARED: Final = 200
_MAX_REWORDED: Final = 600
"""Two long texts that were read at different places are hardly the same but for a clock."""
_BLANKS: Final = re.compile(r"(?:\s|\\n|\\t)+")


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Asked(NamedTuple):
    """A call as it was made."""

    call: Call
    call_id: str | None
    is_known: bool
    """Whether the arguments were captured."""
    time: float | None
    batch: int


class Ledger:
    """Makes the record of each finished call, and knows what is new about it."""

    __slots__ = (
        "_aliases",
        "_by_call",
        "_by_tool",
        "_changes",
        "_learned",
        "_lows",
        "_number",
        "_seen",
        "epoch",
        "era",
        "news",
        "previous",
    )

    def __init__(self) -> None:
        self.epoch = 0
        self.era = 0
        self.news = 0
        self.previous: Exchange | None = None
        """The latest that neither waited nor only thought."""
        self._number = 0
        self._seen: dict[int, None] = {}
        self._changes: dict[str, None] = {}
        self._aliases: dict[int, int] = {}
        self._by_call: dict[str, Exchange] = {}
        self._by_tool: dict[str, Exchange] = {}
        self._lows: dict[str, int] = {}
        self._learned: LearnedMasks | None = None

    def hear_user(self) -> None:
        """Note that somebody spoke: whatever was asked before may be asked again."""
        self.epoch += 1
        self.era += 1
        self._seen.clear()
        self._lows.clear()

    def finish(self, asked: Asked, answer: ToolResult, raw: int | None) -> Exchange:
        """Return the record of a finished call.

        Args:
            asked: The call as it was made.
            answer: The result as it came.
            raw: Digest of the result; `None` if not captured.
        """
        call, _, is_known, time, batch = asked
        tool, key, arguments = call
        effect, is_poll, command = doing_of(tool, arguments)
        exchange = Exchange()
        exchange.number = self._number = self._number + 1
        exchange.tool = tool = intern(tool) if type(tool) is str else tool
        exchange.key = key
        exchange.arguments = arguments
        exchange.identity = known = _identity(call, command) if is_known else None
        exchange.effect = effect
        exchange.is_idle = is_idle = effect is WAIT or effect is THINK
        exchange.is_poll = is_poll
        exchange.is_shell = command is not None
        exchange.batch = batch
        exchange.time = time
        exchange.raw = raw
        self._read(exchange, answer)
        exchange.last = last = self._by_call.pop(known, None) if known else None
        before = None
        if last is not None:
            last.last = None
            before = last.time
        exchange.gap = None if time is None or before is None else time - before
        exchange.digest = self._digest(exchange, last)
        digest = exchange.digest
        exchange.pair = (known, digest) if known is not None and digest is not None else None
        exchange.is_known = exchange.pair is not None
        if known:
            _remember(self._by_call, known, exchange, MAX_CALLS)
        previous = self.previous
        exchange.in_batch = previous is not None and previous.batch == batch
        self._judge(exchange, previous)
        if not is_idle:
            self.previous = exchange
            if exchange.text:
                before_it = self._by_tool.pop(tool, None)
                if before_it is not None:
                    before_it.condense()
                _remember(self._by_tool, tool, exchange, MAX_TOOLS)
        return exchange

    def latest(self, identity: str) -> Exchange | None:
        """Return the record of a call as it finished last; `None` if it is not remembered."""
        return self._by_call.get(identity)

    def _read(self, exchange: Exchange, answer: ToolResult) -> None:
        """Read the result."""
        exchange.error = exchange.signature = exchange.trouble = exchange.low = None
        exchange.is_echo = False
        text = answer.result
        if text is None:
            exchange.text = ""
            exchange.outcome = answer.outcome
            if answer.outcome is ERROR and answer.error:
                self._read_error(exchange, answer.error)
            return
        bare = masks.bare(text)
        if bare is not text:
            exchange.raw = xxhash.xxh3_64_intdigest(bare.encode("utf-8", "surrogatepass"))
        exchange.text = text = masks.cut(bare)
        effect = exchange.effect
        exchange.is_echo = effect is EXECUTE and failures.is_echo(text, exchange.arguments)
        outcome = failures.outcome_of(
            text, answer.outcome, effect, is_shell=exchange.is_shell, is_echo=exchange.is_echo
        )
        exchange.outcome = outcome
        if outcome is ERROR:
            exchange.is_echo = False
            self._read_error(exchange, text or answer.error or "")
        elif effect is UNCLEAR and outcome is OK and not exchange.is_poll:
            exchange.is_poll = len(text) < _MIN_COMPARED and failures.is_pending(text)
        if effect is not READ and effect is not THINK:
            exchange.low = failures.low_of(text)

    def _read_error(self, exchange: Exchange, text: str) -> None:
        if len(text) < _ECHO_CHARS and exchange.arguments:
            text = masks.without_echo(text, exchange.values)
        exchange.error = failures.line_of(text)
        exchange.signature = failures.signature_of(exchange.error)
        exchange.trouble = failures.trouble_of(text)

    def _digest(self, exchange: Exchange, last: Exchange | None) -> int | None:
        """Return a digest that results share which differ in volatile tokens alone.

        Texts are masked only where there is something alike to compare with.
        """
        raw = exchange.raw
        if raw is None:
            return None
        known = self._aliases.get(raw)
        if known is not None:
            return known
        digest = raw
        near = None
        if len(exchange.text) <= _MAX_REWORDED or exchange.effect is not READ:
            near = self._by_tool.get(exchange.tool)
        for other in (last, near):
            if other is None or other.digest is None:
                continue
            if not _may_equal(exchange, other):
                continue
            if self._are_alike(exchange, other, learn=other is last):
                digest = other.digest
                break
        _remember(self._aliases, raw, digest, MAX_SEEN)
        return digest

    def _are_alike(self, exchange: Exchange, other: Exchange, *, learn: bool) -> bool:
        one, against = exchange.text, other.text
        echoed = exchange.values if len(one) < _ECHO_CHARS else ()
        others = other.values if len(against) < _ECHO_CHARS else ()
        if masks.are_alike(one, against, echoed, others):
            return True
        learned, tool = self._learned, exchange.tool
        if learn:
            learned = self._learned = learned or LearnedMasks()
            learned.learn(tool, against, one)
        if learned is None or not learned.knows(tool):
            return False
        return masks.are_alike(
            learned.apply(tool, one), learned.apply(tool, against), echoed, others
        )

    def _judge(self, exchange: Exchange, previous: Exchange | None) -> None:
        """Say what is new, and begin an epoch where something has changed."""
        tool, effect, outcome = exchange.tool, exchange.effect, exchange.outcome
        low, novel_low = exchange.low, False
        if low is not None:
            best = self._lows.get(tool)
            novel_low = best is not None and low < best
            if best is None or novel_low:
                _remember(self._lows, tool, low, MAX_TOOLS)
        changed = False
        identity = exchange.identity
        if identity is not None and effect is not READ and not exchange.is_idle:
            if (outcome is OK or outcome is EMPTY) and identity not in self._changes:
                changed = effect is WRITE or (
                    (effect is UNCLEAR or effect is EXECUTE)
                    and previous is not None
                    and previous.tool != tool
                )
            self._changes.pop(identity, None)
            _remember(self._changes, identity, None, MAX_SEEN)
        exchange.is_novel = changed or novel_low
        if exchange.is_novel:
            self.epoch += 1
        digest = exchange.digest
        exchange.is_new = digest is None or digest not in self._seen
        if digest is not None and not exchange.is_idle:
            if exchange.is_new:
                self.news += outcome is OK
            else:
                del self._seen[digest]
            _remember(self._seen, digest, None, MAX_SEEN)
        exchange.epoch, exchange.era, exchange.news = self.epoch, self.era, self.news


def _remember(memory: dict[Key, Value], key: Key, value: Value, limit: int) -> None:
    """Put it in, as the newest; the oldest goes where there are too many."""
    if len(memory) >= limit and key not in memory:
        del memory[next(iter(memory))]
    memory[key] = value


def _identity(call: Call, command: str | None) -> str:
    """Return tool and arguments in one spelling.

    Args:
        call: The call.
        command: What `doing_of` makes of it, where it is a shell command.
    """
    tool, key, arguments = call
    if arguments is None:
        return key
    if command is not None:
        rest = {
            name: value
            for name, value in arguments.items()
            if name not in COMMAND_KEYS and name not in LABEL_KEYS and name not in VOLATILE_KEYS
        }
        return f"{tool}\0{command}" + (f"\0{sorted(rest.items())!r}" if rest else "")
    if not VOLATILE_KEYS.isdisjoint(arguments):
        rest = {name: value for name, value in arguments.items() if name not in VOLATILE_KEYS}
        if rest:
            key = f"{tool}\0{orjson.dumps(rest, option=orjson.OPT_SORT_KEYS).decode()}"
    if "  " in key or "\\n" in key or "\\t" in key:
        return _BLANKS.sub(" ", key)
    return key


def _may_equal(one: Exchange, other: Exchange) -> bool:
    """Say cheaply whether two results can be alike but for volatile tokens and echoes."""
    if one.outcome is not other.outcome:
        return False
    length, against = len(one.text), len(other.text)
    if length < _MIN_COMPARED and against < _MIN_COMPARED:
        return True
    apart = abs(length - against) - _LENGTH_SLACK
    return apart <= 0 or apart <= _echoed(one) + _echoed(other)


def _echoed(exchange: Exchange) -> int:
    return sum(map(len, exchange.values))
