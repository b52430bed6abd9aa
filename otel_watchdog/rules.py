"""Settings for some tools and agents: exempt, polls, what makes a call the same, floors."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from otel_watchdog.evidence.shell import words_in
from otel_watchdog.model import ToolCall

DEFAULT: Final = "default"
"""The category of an agent of which nothing else is known."""

MAX_KNOWN: Final = 1024
"""Names whose rules are remembered; then all are looked up anew."""

Options = dict[str, Any]
"""A plug-in's options by name."""

_T = TypeVar("_T")


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


Turns = Annotated[int, Field(ge=0, le=10_000), BeforeValidator(_as_written)]


class Category(BaseModel):
    """A kind of agent, and from which turn on it is corrected."""

    model_config = _USUAL

    min_turns: Turns | None = None
    """Turns of a run before which its agents are not corrected; default: as for all agents."""

    agents: tuple[str, ...] = ()
    """Patterns of agents' names, such as `*authz*`; `*` stands for any characters."""

    tools: tuple[str, ...] = ()
    """Words in names of tools by which an agent without a category is told to be of this one."""


class ToolRule(BaseModel):
    """What holds for the tools of one pattern."""

    model_config = _USUAL

    exempt: bool = False
    """Whether nothing is corrected for what these tools complete; it is still found and listed."""

    poll: bool = False
    """Whether they ask how something is getting on, so that asking again is honest."""

    loop_key: tuple[str, ...] = ()
    """Names of the arguments that make two calls the same; default: all."""

    detectors: dict[str, Options | bool] = Field(default_factory=dict)
    """Options of detectors where they judge these tools; `false`: they do not."""


class AgentRule(BaseModel):
    """What holds for the agents of one pattern."""

    model_config = _USUAL

    exempt: bool = False
    """Whether they are never corrected; what is found is still listed."""

    category: str | None = None
    """Their category."""

    min_turns: Turns | None = None
    """Turns of a run before which they are not corrected; default: that of their category."""

    detectors: dict[str, Options | bool] = Field(default_factory=dict)
    """Options of detectors for these agents; `false`: not asked."""


class Rules:
    """The rules of one watchdog, by the names that come.

    Args:
        tools: Rules by pattern of tools' names; the first that fits holds.
        agents: The same for agents.
        categories: Categories by name.
        min_turns: The floor of agents without a category.
    """

    def __init__(
        self,
        tools: Mapping[str, ToolRule],
        agents: Mapping[str, AgentRule],
        categories: Mapping[str, Category],
        min_turns: int,
    ) -> None:
        self.by_tool = tools
        self.by_agent = agents
        self._categories = categories
        self._min_turns = min_turns
        self._tools: dict[str, ToolRule | None] = {}
        self._hints: dict[str, str | None] = {}
        self._words = {
            word: name for name, category in categories.items() for word in category.tools
        }

    def tool(self, name: str) -> ToolRule | None:
        """Return the rule for a tool; `None`: none."""
        if not self.by_tool:
            return None
        if name not in self._tools:
            if len(self._tools) >= MAX_KNOWN:
                self._tools.clear()
            self._tools[name] = first(self.by_tool, name)
        return self._tools[name]

    def agent(self, name: str | None) -> AgentRule | None:
        """Return the rule for an agent; `None`: none, or its name is not known."""
        return first(self.by_agent, name) if name else None

    def category_of(self, agent: str | None) -> str | None:
        """Return the category that an agent's name assigns; `None`: none."""
        rule = self.agent(agent)
        if rule is not None and rule.category is not None:
            return rule.category
        if agent is None:
            return None
        return next(
            (
                name
                for name, category in self._categories.items()
                if any(fnmatchcase(agent, pattern) for pattern in category.agents)
            ),
            None,
        )

    def hint(self, tool: str) -> str | None:
        """Return the category that a tool's name hints at; `None`: none."""
        if tool not in self._hints:
            if len(self._hints) >= MAX_KNOWN:
                self._hints.clear()
            words = words_in(tool) | {tool.lower()}
            self._hints[tool] = next((self._words[w] for w in words if w in self._words), None)
        return self._hints[tool]

    def floor(self, agent: str | None, category: str | None) -> int:
        """Return the turns of a run before which an agent is not corrected."""
        rule = self.agent(agent)
        if rule is not None and rule.min_turns is not None:
            return rule.min_turns
        known = self._categories.get(category or DEFAULT)
        if known is not None and known.min_turns is not None:
            return known.min_turns
        return self._min_turns


def first(rules: Mapping[str, _T], name: str) -> _T | None:
    """Return the rule of the first pattern that fits a name, an equal one before all."""
    if name in rules:
        return rules[name]
    return next((rule for pattern, rule in rules.items() if fnmatchcase(name, pattern)), None)


def reduced(call: ToolCall, keys: tuple[str, ...]) -> ToolCall:
    """Return a call with those arguments alone that make two of them the same.

    >>> reduced(ToolCall("s", 1, "find", '{"q": "a", "limit": 3}'), ("q",)).arguments
    '{"q":"a"}'
    """
    if call.arguments is None:
        return call
    try:
        given = orjson.loads(call.arguments)
    except orjson.JSONDecodeError:
        return call
    if not isinstance(given, dict):
        return call
    kept = {key: given[key] for key in keys if key in given}
    return call._replace(arguments=orjson.dumps(kept).decode())
