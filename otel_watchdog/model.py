"""The facts that pass between the parts: all frozen, none knows OpenTelemetry.

A span becomes observations, observations become findings, findings become at most one correction
a turn. The words are those of the documentation's glossary: one word a thing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Final, NamedTuple, TypeAlias

from otel_watchdog.keys import key_of

MARKER: Final = "[watchdog]"
"""Opens every message that is put before an agent; user messages that start with it are ours."""

REFUSAL: Final = "Refused by the watchdog:"
"""Opens the result of a call to a tool that was taken away from a looping agent."""


class Severity(Enum):
    """How sure a detector is that the run cannot make progress."""

    WARN = "warn"
    """May be a loop, may be honest work: tell, never stop."""
    CRITICAL = "critical"
    """Provably no progress: may stop the run in mode `enforce`."""


class Kind(Enum):
    """The family of a pattern; several detectors may find the same kind."""

    LOOP = "loop"
    CYCLE = "cycle"
    DOMINANT = "dominant"
    REPHRASE = "rephrase"
    FAILURE_STREAK = "failure_streak"
    SAME_ERROR = "same_error"
    NO_PROGRESS = "no_progress"
    THOUGHT_REPETITION = "thought_repetition"
    DONE_BUT_CONTINUING = "done_but_continuing"
    AUTH = "auth"
    CRASH_LOOP = "crash_loop"


class ToolOutcome(Enum):
    """How a tool call ended."""

    OK = "ok"
    EMPTY = "empty"
    """It worked and found nothing: neither an error nor a success."""
    ERROR = "error"
    REFUSED = "refused"
    """It was not run: a person or a rule said no."""
    UNKNOWN = "unknown"
    """The trace does not say."""


class CorrectionOutcome(Enum):
    """What the agent did after a correction."""

    HEEDED = "heeded"
    """It turned to something else, and that brought something new."""
    IGNORED = "ignored"
    """The same came again."""
    RELAPSED = "relapsed"
    """It heeded, and later in its session the same came back."""
    UNKNOWN = "unknown"
    """The run ended too early, or the trace does not say."""


class Tier(IntEnum):
    """Rungs of the correction ladder, mildest first."""

    NUDGE = 1
    REDIRECT = 2
    FORCE_WRAP = 3
    HARD_STOP = 4
    TERMINATE = 5

    @property
    def label(self) -> str:
        """The tier's word in span names.

        >>> Tier.FORCE_WRAP.label
        'force-wrap'
        """
        return self.name.lower().replace("_", "-")


class Mode(IntEnum):
    """What the watchdog may do; each mode includes the ones before it."""

    OFF = 0
    """Nothing is read."""
    OBSERVE = 1
    """Findings and would-be corrections are recorded; nothing is delivered."""
    FEEDBACK = 2
    """Messages are delivered; turn caps are advice."""
    ENFORCE = 3
    """Turn caps bind: an adapter ends a run that goes past its cap."""

    @property
    def label(self) -> str:
        """The mode's word in settings and on spans.

        >>> Mode.OBSERVE.label
        'observe'
        """
        return self.name.lower()


# Observations are named tuples, not dataclasses: they are made on the traced program's thread, two
# for every tool call, and a frozen dataclass costs four times as much.


class RunStarted(NamedTuple):
    """A prompt was handed to an agent."""

    session: str
    run: str
    """Id of the run, unique in the session."""
    agent: str | None = None
    """The agent's name; `None` where the trace does not say."""
    turn: int = 0
    """Always 0: the first turn is 1."""
    time: float | None = None
    """Seconds on any clock that does not go backwards; `None` where unknown."""
    conversation: str | None = None
    """What its session shares with those of other agents at the same work: the conversation's id,
    else the trace's; of an agent that works inside another's run, that one's. `None`: unknown."""


class ModelTurn(NamedTuple):
    """The model answered: one turn has begun."""

    session: str
    turn: int
    """Counts from 1 in the run."""
    time: float | None = None
    text: str | None = None
    """What the model said to the outside; "" where it said nothing, `None` if not captured."""
    reasoning: str | None = None
    """What the model thought, where it is traced."""
    tool_calls: int | None = None
    """Tool calls that the answer asks for; `None` if not captured."""
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    error: str | None = None
    """The provider's error where the model call itself failed."""
    cost_usd: float | None = None
    """US dollars that the call cost, where the trace says so."""


class ToolCall(NamedTuple):
    """The agent called a tool."""

    session: str
    turn: int
    name: str
    arguments: str | None = None
    """As JSON text; `None` if not captured: unknown equals nothing."""
    call_id: str | None = None
    time: float | None = None


class ToolResult(NamedTuple):
    """A tool call ended."""

    session: str
    turn: int
    name: str
    outcome: ToolOutcome = ToolOutcome.UNKNOWN
    result: str | None = None
    """What the tool gave back, as text; `None` if not captured."""
    error: str | None = None
    """The error text of a failed call; `None` where there was none or it is not known."""
    call_id: str | None = None
    time: float | None = None


class UserMessage(NamedTuple):
    """Somebody spoke to the agent during its session."""

    session: str
    turn: int
    """The turn after which it came; 0 before the first."""
    text: str | None = None
    time: float | None = None


class RunEnded(NamedTuple):
    """The agent handed control back."""

    session: str
    run: str
    turn: int
    """The run's last turn."""
    error: str | None = None
    time: float | None = None


Observation: TypeAlias = RunStarted | ModelTurn | ToolCall | ToolResult | UserMessage | RunEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a detector saw, said twice: once for each reader."""

    detector: str
    kind: Kind
    severity: Severity
    reason: str
    """For the operator; may name settings and commands."""
    guidance: str
    """For the model: what was seen and one way out, free of operator words."""
    evidence: Mapping[str, str | int | float] = field(default_factory=dict)
    """The figures behind it, by name; values may quote the agent and are untrusted."""
    key: str = ""
    """Who the root cause is: findings of one key are about the same thing, whoever made them. Left
    empty, it is made of the evidence."""
    max_tier: Tier | None = None
    """The firmest tier that it may lead to; `None`: whatever the policy says. It is set on
    opinions: what a judge thinks, not what a rule has counted. They take nothing from the rules."""

    def __post_init__(self) -> None:
        """Fill in the key."""
        if not self.key:
            object.__setattr__(self, "key", key_of(self.detector, self.evidence))


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What will be put before the agent at its next turn."""

    id: str
    """Unique; a message is delivered at most once by it."""
    session: str
    run: str
    agent: str | None
    turn: int
    """The turn that was judged."""
    n: int
    """Which correction of the run this is, counted from 1."""
    tier: Tier
    mode: Mode
    findings: tuple[Finding, ...]
    """The strongest first; the others are evidence."""
    message: str
    """The exact text for the model, opened by `MARKER`."""
    max_turns: int | None = None
    """Absolute turn after which the run is to end; `None` below hard-stop."""
    category: str | None = None
    """The agent's category; `None` where nobody asked."""
    category_from: str | None = None
    """How it is known: `attribute`, `agent` (by its name), `inferred` (from tools) or `default`."""
    prompt: str | None = None
    """Name of the prompt that words it, where texts are kept outside of this package."""
    prompt_version: int | None = None

    @property
    def finding(self) -> Finding:
        """The finding that speaks."""
        return self.findings[0]

    @property
    def span_name(self) -> str:
        """The correction span's name, `watchdog-<tier>-turn-<N>`; `-observed` if not delivered."""
        name = f"watchdog-{self.tier.label}-turn-{self.turn}"
        return f"{name}-observed" if self.mode is Mode.OBSERVE else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the agent did after a correction that it was given."""

    correction: Correction
    outcome: CorrectionOutcome
    turn: int
    """The turn in which it was known."""
    turns_to_heed: int | None = None
    """Turns from the first that held the message to the first that brought something else, from 1;
    `None` unless it was heeded."""
    response: str = ""
    """What the next turns did, in a sentence; names of tools, no content."""

    @property
    def span_name(self) -> str:
        """The outcome span's name, `watchdog-outcome-turn-<N>`."""
        return f"watchdog-outcome-turn-{self.turn}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding that led to no correction of its own, and why."""

    finding: Finding
    session: str
    turn: int
    reason: str
    """`cap`, `refractory`, `unclaimed`, `floor`, `merged`, `exempt` or `delegated`."""
