"""What a judge is: what it is shown, and what it says."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_REASON_CHARS = 400
"""Of a verdict's reason that are kept."""


def _short(value: object) -> object:
    return value[:MAX_REASON_CHARS] if isinstance(value, str) else value


class Verdict(BaseModel):
    """Whether an agent still progresses."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    stuck: bool
    """True only if the recent activity brings the task no nearer: the same thing in other words,
    an approach that cannot work, or work on something that was not asked for."""

    reason: Annotated[str, BeforeValidator(_short)]
    """One sentence that names the turns it rests on."""

    done_but_continuing: bool
    """True only if what was asked for is there already, and the agent goes on all the same."""

    confidence: float = Field(ge=0, le=1)
    """From 0, a guess, to 1, certain."""

    @property
    def word(self) -> str:
        """The verdict in a word: `stuck`, `done_but_continuing` or `progressing`."""
        if self.done_but_continuing:
            return "done_but_continuing"
        return "stuck" if self.stuck else "progressing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a judge is shown of a run; all texts are the agent's or its tools', and untrusted."""

    session: str
    run: str
    agent: str | None
    turn: int
    """The latest turn, from 1."""
    task: str
    """What the agent was asked to do; "" where the trace does not say."""
    deliverable: str
    """What it is to hand over; "" where that is its last answer."""
    exists: tuple[str, ...]
    """What there is by now: files that were written."""
    activity: tuple[str, ...]
    """What it has done lately, oldest first: a line a call, a message or a thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A verdict, and what it took."""

    verdict: Verdict
    model: str = ""
    """The model that was asked, as its provider names it."""
    provider: str = ""
    instructions: str = ""
    """The system message."""
    prompt_name: str | None = None
    """The prompt that the system message is made of, where it is kept outside of this package."""
    prompt_version: int | None = None
    prompt: str = ""
    """The user message."""
    answer: str = ""
    """What came back, as text."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class Judge(Protocol):
    """Says whether an agent still progresses; asked on a thread of its own."""

    name: ClassVar[str]

    def judge(self, case: Case, *, confirm: bool = False) -> Ruling:
        """Read a case and say what is to be said of it.

        What it raises counts as no answer. It is to give up in time by itself: what hangs keeps
        the others from being asked.

        Args:
            case: What is known of the run.
            confirm: Whether a first verdict was that the agent should stop: look again, for
                reasons against it.
        """
        ...
