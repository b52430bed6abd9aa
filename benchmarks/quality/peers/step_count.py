"""Controls that know nothing but numbers: what any detector has to be better than.

A halt at the 21st call; and the widely used "20 steps, or the same call three times".
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.quality.peers import tools
from benchmarks.quality.peers.guards import HALT, Rows
from benchmarks.quality.peers.steps import Call, Step

MAX_CALLS = 20
SAME = 3
WATCHES_RUN = True


@dataclass(slots=True)
class StepCount:
    """Halts at each call past the limit, and at the same call for the `same`th time."""

    max_calls: int = MAX_CALLS
    same: int | None = None
    _calls: Counter[tuple[str, str]] = field(default_factory=Counter)

    def observe(self, step: Step) -> str | None:
        """Count a call."""
        if not isinstance(step, Call):
            return None
        key = (step.tool, tools.canonical(step.args))
        self._calls[key] += 1
        repeats = self.same is not None and self._calls[key] >= self.same
        return HALT if repeats or self._calls.total() > self.max_calls else None


def plain(_good: Sequence[int]) -> StepCount:
    """Return a count of calls."""
    return StepCount()


ROWS: Rows = {
    "20 calls": plain,
    "20 calls, or the same 3 times": lambda _: StepCount(same=SAME),
}
