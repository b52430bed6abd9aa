"""What an adapter is: something that sees the steps of a run and speaks up, or does not.

Where several agents work in a run, each has a guard of its own, which serves nearly all of them
better: three agents that read the same file are no loop. An adapter whose unit is the whole run
says so by `WATCHES_RUN = True`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from benchmarks.quality.peers.steps import Step

WARN = "warn"
"""A word to the agent, or to somebody who looks: it goes on."""
HALT = "halt"
"""The call is refused, the run is stopped, or handed to a person."""


class Guard(Protocol):
    """Watches one agent, or one run."""

    def observe(self, step: Step) -> str | None:
        """Return `warn` or `halt` if it speaks up at this step, else `None`."""


Maker = Callable[[Sequence[int]], Guard]
"""Makes a guard. It is given how many calls each of the set's other runs took that went well: some
learn from those; the run that the guard is going to watch is not among them."""

Rows = Mapping[str, Maker]
"""What an adapter has in the table, by the name there."""
