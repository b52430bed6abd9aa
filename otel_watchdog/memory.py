"""What the engine keeps for one session; plain state, so that it can be frozen and thawed."""

import copy
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from otel_watchdog.detectors import Detector
from otel_watchdog.model import Correction, Mode, Observation
from otel_watchdog.policies import Policy
from otel_watchdog.progress import Progress
from otel_watchdog.responses import Responses
from otel_watchdog.rules import DEFAULT

if TYPE_CHECKING:
    from otel_watchdog.responses import Cause


class Memory:
    """One session: its evidence, its copies of detectors and policy, and what waits for the agent.

    Args:
        detectors: Its own.
        policy: Copied.
        responses: What follows corrections is judged here.
    """

    __slots__ = (
        "agent",
        "assigned",
        "before",
        "cause",
        "corrected_turn",
        "detectors",
        "helpers",
        "leased_turn",
        "now",
        "pending",
        "policy",
        "profiled",
        "progress",
        "responses",
        "run",
        "shadow",
        "turn",
        "version",
        "votes",
        "watching",
        "would_be",
    )

    def __init__(self, detectors: list[Detector], policy: Policy, responses: Responses) -> None:
        self.progress = Progress()
        self.policy = copy.deepcopy(policy)
        self.shadow: Policy | None = None
        """Goes on from where `policy` stands while nothing is delivered."""
        self.before: Policy | None = None
        """The policy in use as it stood before opinions alone were told; `None`: none were."""
        self.responses = responses
        self.watch(detectors)
        self.profiled: str | None = None
        """The pattern of agents whose own detectors are in use."""
        self.version = 0
        """Of the settings that it goes by."""
        self.assigned: str | None = None
        """The category that the trace itself names."""
        self.votes: dict[str, int] = {}
        """Calls of tools whose names hint at a category, by category."""
        self.helpers: dict[str, None] = {}
        """Open calls that run other agents, by id, else by tool."""
        self.run = ""
        self.agent: str | None = None
        self.turn = 0
        self.corrected_turn: int | None = None
        self.pending: Correction | None = None
        self.cause: Cause | None = None
        """What the pending correction was made for."""
        self.leased_turn: int | None = None
        self.would_be: Correction | None = None
        """Of mode `observe`, until the next turn begins: nobody else will claim it."""
        self.now: float | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what follows from the detectors."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "watching"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Be what `__getstate__` described."""
        for name, value in state.items():
            setattr(self, name, value)
        self.watch(self.detectors)

    def watch(self, detectors: list[Detector]) -> None:
        """Judge by these detectors from now on, each shown what it watches."""
        self.detectors = detectors
        self.watching = _places(tuple(detector.watches for detector in detectors))
        """Places of the detectors that watch a kind of observation; sessions share it."""

    def switch_off(self, name: str) -> None:
        """Judge without the detector of this name."""
        self.watch([detector for detector in self.detectors if detector.name != name])

    def start_run(self, run: str, agent: str | None) -> None:
        """Begin a run: what was said or left unsaid in the one before is over."""
        self.run = run
        self.agent = agent
        self.policy.start_run()
        self.pending = None
        self.cause = None
        self.leased_turn = None
        self.shadow = None
        self.before = None
        self.would_be = None
        self.corrected_turn = None
        self.helpers.clear()

    def category(self, by_name: str | None) -> tuple[str, str]:
        """Return the agent's category, and how it is known.

        Args:
            by_name: What the settings assign to the agent by its name, if anything.
        """
        if self.assigned is not None:
            return self.assigned, "attribute"
        if by_name is not None:
            return by_name, "agent"
        if self.votes:
            return max(self.votes, key=self.votes.__getitem__), "inferred"
        return DEFAULT, "default"

    def policy_in(self, mode: Mode) -> Policy:
        """Return whose count goes on: what is not delivered takes the agent up no ladder."""
        if mode is not Mode.OBSERVE:
            self.before = None if self.shadow is not None else self.before
            self.shadow = None
            self.would_be = None
            return self.policy
        if self.shadow is None:
            self.shadow = copy.deepcopy(self.policy)
            if self.pending is not None:
                self.shadow.claim(turn=self.turn)
        return self.shadow

    def take_back(self, mode: Mode) -> Policy | None:
        """Return the policy as if no opinion had been told; `None`: none was since a rule spoke."""
        before, self.before = self.before, None
        if before is not None and mode is Mode.OBSERVE:
            self.shadow = before
        elif before is not None:
            self.policy = before
        return before

    def blind(self) -> dict[str, str]:
        """Return what each detector lacks, by its name; those that lack nothing are left out."""
        missing = _missing(self.progress)
        return {
            detector.name: "; ".join(missing[need] for need in detector.needs if need in missing)
            for detector in self.detectors
            if any(need in missing for need in detector.needs)
        }


@lru_cache(maxsize=64)
def _places(
    watched: tuple[tuple[type[Observation], ...], ...],
) -> Mapping[type[Observation], Sequence[int]]:
    """Return who watches each kind, by place, given the kinds that each watches."""
    found: dict[type[Observation], list[int]] = {}
    for place, kinds in enumerate(watched):
        for kind in kinds:
            found.setdefault(kind, []).append(place)
    return found


def _missing(progress: Progress) -> dict[str, str]:
    """Say what the trace does not carry, by the name under which detectors need it."""
    missing = {}
    if progress.calls and not progress.calls_with_arguments:
        missing["arguments"] = "the arguments of tool calls are not captured"
    if (progress.calls or progress.results) and not progress.results_with_content:
        missing["results"] = "the results of tool calls are not captured"
    if progress.calls and not progress.results_with_outcome:
        missing["outcomes"] = "the trace does not say how tool calls ended"
    if progress.turns and not progress.turns_with_text:
        missing["text"] = "what the model says is not captured"
    return missing
