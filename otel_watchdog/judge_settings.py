"""Settings of the judge: which model is asked, how rarely, and what it may bring about."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_USUAL: Final[ConfigDict] = {
    "extra": "forbid",
    "frozen": True,
    "use_attribute_docstrings": True,
}


def _as_written(value: object) -> object:
    """Refuse what is no number; elsewhere true would pass for 1."""
    if isinstance(value, bool | str):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic passes on this one alone
    return value


_Count = Annotated[int, BeforeValidator(_as_written)]
_Number = Annotated[float, BeforeValidator(_as_written)]


class JudgeSettings(BaseModel):
    """Of the model that is asked, rarely, whether an agent still progresses."""

    model_config = _USUAL

    model: str | None = None
    """The model, as pydantic-ai names it, such as `openai:gpt-5-mini`; without one, nobody is
    asked."""

    confirm_model: str | None = None
    """The model that confirms a verdict; default: the same one, asked in other words."""

    confirm: Literal["always", "firm"] = "always"
    """When a verdict needs a second one: `always`, or for more than a redirect alone."""

    name: str = "pydantic_ai"
    """The judge; one from a package of yours goes by its entry point's name."""

    max_per_run: _Count = Field(default=6, ge=0, le=1_000)
    """Questions a run, at most; a confirmation counts as one."""

    max_per_hour: _Count = Field(default=60, ge=0, le=100_000)
    """Questions in any hour, at most, of all agents together."""

    wait_seconds: _Number = Field(default=90.0, ge=0, le=86_400)
    """Seconds in which the rules have found nothing, nobody spoke to the agent and the judge was
    not asked, before it is."""

    wait_turns: _Count = Field(default=6, ge=1, le=1_000)
    """Turns instead, where the trace has no clock."""

    min_turns: _Count = Field(default=3, ge=1, le=1_000)
    """Turns that there must be to look at, whatever the clock says."""

    timeout_seconds: _Number = Field(default=30.0, gt=0, le=600)
    """Seconds after which an answer is no longer waited for."""

    min_confidence: _Number = Field(default=0.7, ge=0, le=1)
    """How sure the judge must be for anything to be said, and for a second look."""

    confirm_confidence: _Number = Field(default=0.9, ge=0, le=1)
    """How sure it must be, twice, for more than a redirect."""

    deliverables: dict[str, str] = Field(default_factory=dict)
    """What agents are to hand over, by pattern of their names: a file's path or a pattern of one,
    such as `out/*.md`. Once it is there, nobody is asked. Default: what they are to hand over is
    their last answer."""

    workspace: str | None = None
    """The folder in which deliverables stand, and whose listing the judge is shown; default: what
    the trace says was written."""
