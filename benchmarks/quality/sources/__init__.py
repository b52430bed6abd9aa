"""Public sources of agents' runs: each module reads what its source publishes, at a path of yours.

A loader takes a file or a folder and yields runs. What a source says of a run is taken over as it
stands: `fire`, `quiet` and `borderline` where people have said whether the agent went round in
circles, `unlabelled` where nobody has; `is_solved` where the source says whether the task was.
Nothing is fetched: see each module for where its source is published, and under which licence.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from benchmarks.quality.runs import LabelledRun
from benchmarks.quality.sources import (
    agent_reward_bench,
    intercode,
    mini_swe_agent,
    swe_agent,
    tau_bench,
    trail,
)

__all__ = ["SOURCES", "load"]

SOURCES: Final[Mapping[str, Callable[[Path], Iterator[LabelledRun]]]] = {
    "agent_reward_bench": agent_reward_bench.read,
    "intercode": intercode.read,
    "mini_swe_agent": mini_swe_agent.read,
    "swe_agent": swe_agent.read,
    "tau_bench": tau_bench.read,
    "trail": trail.read,
}
"""By name."""


def load(given: str) -> tuple[str, list[LabelledRun]]:
    """Return a source's name and its runs.

    Args:
        given: `name=path`.

    Raises:
        ValueError: The source is not known, or there is nothing of it at the path.
    """
    name, _, path = given.partition("=")
    if name not in SOURCES or not path:
        raise ValueError(f"a source must be name=path, one of {', '.join(SOURCES)}; got {given!r}")
    runs = list(SOURCES[name](Path(path)))
    if not runs:
        raise ValueError(f"{name}: no runs at {path!r}")
    return name, runs
