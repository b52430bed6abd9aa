"""What a watchdog judges with, as the settings say: detectors, policy and rules, by agent."""

import copy
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from otel_watchdog import assembly
from otel_watchdog.castings import Mould
from otel_watchdog.config import WatchdogConfig
from otel_watchdog.detectors import Detector
from otel_watchdog.evidence.effects import nature_of
from otel_watchdog.evidence.exchanges import Effect
from otel_watchdog.memory import Memory
from otel_watchdog.model import ToolCall, ToolResult
from otel_watchdog.policies import Attached, Policy
from otel_watchdog.responses import Responses
from otel_watchdog.rules import MAX_KNOWN, ToolRule, reduced

MAX_HELPERS: Final = 64
"""Open calls of other agents that a session remembers; the oldest is forgotten first."""

_HELPERS: Final = frozenset({"agent", "agents", "subagent", "task", "delegate"})
"""Words of tools that run another agent."""


class Outfit:
    """The originals that each session gets copies of.

    Args:
        config: The settings.
        detectors: In place of those of the settings; `None`: those.
        policy: Likewise.

    Raises:
        ConfigError: A detector, policy or option of the settings is wrong.
    """

    def __init__(
        self,
        config: WatchdogConfig,
        detectors: Sequence[Detector] | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._given = detectors
        self._given_policy = policy
        self._moulds: dict[str | None, Mould] = {}
        self._off: set[str] = set()
        self._version = 0
        self.configure(config)

    def configure(self, config: WatchdogConfig) -> None:
        """Go by other settings.

        Raises:
            ConfigError: A detector, policy or option is wrong; the old settings hold.
        """
        given = self._given
        detectors = tuple(assembly.detectors_of(config) if given is None else given)
        by_agent = {
            pattern: assembly.detectors_of(config, agents=pattern)
            for pattern, rule in config.agents.items()
            if rule.detectors and given is None
        }
        self.policy = self._given_policy or assembly.policy_of(config)
        self.detectors, self._by_agent = detectors, by_agent
        self.rules = config.rules()
        self.config = config
        self._waits = config.wait_for_sub_agents
        self._version += 1
        self._moulds.clear()
        self.plain: set[str] = set()
        """Names of tools of which `read` has nothing to say."""

    def switch_off(self, name: str) -> None:
        """Give sessions to come no detector of this name."""
        self._off.add(name)
        self._moulds.clear()

    def memory(self) -> Memory:
        """Return what a new session is kept in."""
        config = self.config
        responses = Responses(turns=config.response_turns, calls=config.response_calls)
        memory = Memory(self._cast(None), self.policy, responses)
        memory.version = self._version
        return memory

    def fit(self, memory: Memory, session: str) -> None:
        """Have a session, whose run begins, go by the latest settings and those of its agent."""
        own = next((p for p in self._by_agent if fnmatchcase(memory.agent or "", p)), None)
        if memory.version == self._version and memory.profiled == own:
            return
        memory.watch(self._cast(own))
        if memory.version != self._version:
            memory.policy = copy.deepcopy(self.policy)
            memory.policy.start_run()
            if isinstance(memory.policy, Attached):
                memory.policy.attach(session)
        memory.version, memory.profiled = self._version, own

    def read(
        self, memory: Memory, seen: ToolCall | ToolResult
    ) -> tuple[ToolCall | ToolResult, ToolRule | None]:
        """Return an observation as the rules have it, and the rule of its tool.

        A tool of which there is nothing to say is put among the `plain` ones.

        Args:
            memory: The session's.
            seen: A tool's call or result.
        """
        hint, rule = self.rules.hint(seen.name), self.rules.tool(seen.name)
        delegates = self._waits and _delegates(seen.name)
        if hint is None and rule is None and not delegates:
            if len(self.plain) >= MAX_KNOWN:
                self.plain.clear()
            self.plain.add(seen.name)
        if delegates:
            _delegate(memory, seen)
        if type(seen) is not ToolCall:
            return seen, rule
        if hint is not None:
            memory.votes[hint] = memory.votes.get(hint, 0) + 1
        return reduced(seen, rule.loop_key) if rule is not None and rule.loop_key else seen, rule

    def is_exempt(self, memory: Memory, rule: ToolRule | None) -> bool:
        """Say whether a session, or the tool of a rule, is never corrected."""
        agent = self.rules.agent(memory.agent)
        return (rule is not None and rule.exempt) or (agent is not None and agent.exempt)

    def category(self, memory: Memory) -> tuple[str, str]:
        """Return a session's category, and how it is known."""
        return memory.category(self.rules.category_of(memory.agent))

    def _cast(self, agents: str | None) -> list[Detector]:
        """Return copies of the detectors for agents of a pattern; `None`: for all others."""
        mould = self._moulds.get(agents)
        if mould is None:
            detectors = self.detectors if agents is None else self._by_agent[agents]
            awake = [detector for detector in detectors if detector.name not in self._off]
            mould = self._moulds[agents] = Mould(awake)
        return mould.cast()


def _delegates(tool: str) -> bool:
    """Say whether a tool runs another agent, by its name."""
    nature = nature_of(tool)
    return nature.effect is Effect.HAND_OFF or not nature.words.isdisjoint(_HELPERS)


def _delegate(memory: Memory, seen: ToolCall | ToolResult) -> None:
    """Note where a call that runs another agent begins and ends."""
    key = seen.call_id or seen.name
    if isinstance(seen, ToolCall):
        memory.helpers[key] = None
        if len(memory.helpers) > MAX_HELPERS:
            del memory.helpers[next(iter(memory.helpers))]
    else:
        memory.helpers.pop(key, None)
