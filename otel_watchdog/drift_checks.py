"""What a judge was asked about an agent, what it said, and what that took: for the records."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftCheck:
    """One call of the model that is asked, rarely, whether an agent still progresses."""

    session: str
    """Key of the session that was looked at."""
    turn: int
    """The run's turn at that time, from 1."""
    verdict: str
    """`progressing`, `stuck`, `done_but_continuing`, or `error` where no verdict came."""
    started_at: float
    """When the model was asked, in seconds since 1970."""
    seconds: float
    """How long it took."""
    model: str
    """The model that was asked, as its provider names it."""
    provider: str
    """Its provider, such as `openai`."""
    instructions: str
    """The system message."""
    prompt: str
    """The user message: what is known of the run. Holds the agent's own words."""
    answer: str = ""
    """What came back, as text; empty where nothing did."""
    reason: str = ""
    """Why the judge says so, in a sentence; with `error`, what went wrong, without content."""
    error: str | None = None
    """Class of the failure, with `error`."""
    agent: str | None = None
    """The agent's name, where known."""
    confidence: float | None = None
    """How sure the judge is, 0 to 1; `None`: it did not say."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    """What the call cost, in US dollars; `None`: not known."""
    prompt_name: str | None = None
    """The prompt's name, where it is kept outside of this package."""
    prompt_version: int | None = None
