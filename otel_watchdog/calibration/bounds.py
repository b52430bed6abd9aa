"""What so many good runs allow to promise; exact, for any distribution, without approximations.

Settings are tried from the most patient to the least, and a run that one setting warns is warned by
every less patient one: the runs' scores are in one order. So choosing among the settings costs
nothing, and two exact statements hold for the last setting that warns at most `c` of `n` runs.

- Of all runs like these, at most the share `p` is warned, unless something happened whose chance is
  at most P(Bin(n, p) <= c). This is the bound of Clopper and Pearson.
- Of the next `m` runs like these, at most `r` are warned, unless something happened whose chance is
  at most P(Hyp(n + m, c + r + 1, n) <= c): of the c + r + 1 runs that are warned first, at most `c`
  fell to the first part. This is what split conformal prediction gives.

"Like these" means exchangeable: the same agents, tools, tasks and models, none chosen by how they
went, and each run for itself.
"""

import math
from dataclasses import dataclass
from typing import Final

from otel_watchdog.errors import ConfigError

MAX_NEEDED: Final = 10_000_000
_STEPS: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What is to be promised of good runs.

    Raises:
        ConfigError: A share is not above 0 and below 1, or `next_runs` is below 1.
    """

    warned: float = 0.02
    """The most of them that are corrected at all."""
    halted: float = 0.005
    """The most of them that are ended."""
    confidence: float = 0.95
    """That both hold; the chance that they do not is the rest, split between the two."""
    next_runs: int | None = None
    """Of how many runs to come it is said; `None`: of all."""

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("warned", "halted", "confidence"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise ConfigError(f"{name} must be above 0 and below 1, got {value!r}")
        if self.next_runs is not None and self.next_runs < 1:
            raise ConfigError(f"next must be at least 1, got {self.next_runs!r}")


def binomial_tail(count: int, runs: int, share: float) -> float:
    """Return the chance of at most `count` in `runs`, each with the chance `share`.

    >>> round(binomial_tail(0, 149, 0.02), 4)
    0.0493
    """
    if count >= runs or share <= 0:
        return 1.0
    if count < 0 or share >= 1:
        return 0.0 if count < 0 or count < runs else 1.0
    each, none = math.log(share), math.log1p(-share)
    return min(
        1.0,
        math.fsum(
            math.exp(_log_choose(runs, k) + k * each + (runs - k) * none) for k in range(count + 1)
        ),
    )


def hypergeometric_tail(count: int, runs: int, following: int, marked: int) -> float:
    """Return the chance that of `marked` ones at most `count` fall to the first `runs` of all.

    >>> round(hypergeometric_tail(0, 30, 30, 2), 4)
    0.2458
    """
    total = runs + following
    if marked > total:
        return 0.0
    lowest = max(0, marked - following)
    return min(
        1.0,
        math.fsum(
            math.exp(
                _log_choose(marked, k)
                + _log_choose(total - marked, runs - k)
                - _log_choose(total, runs)
            )
            for k in range(lowest, min(count, marked, runs) + 1)
        ),
    )


def upper_bound(count: int, runs: int, confidence: float) -> float:
    """Return the share that so many good runs rule out to be exceeded, after Clopper and Pearson.

    >>> round(upper_bound(0, 149, 0.95), 4), round(upper_bound(1, 104, 0.95), 4)
    (0.0199, 0.0448)
    """
    if not runs or count >= runs:
        return 1.0
    low, high = count / runs, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if binomial_tail(count, runs, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def risk(count: int, runs: int, share: float, next_runs: int | None) -> float:
    """Return the chance that a promise is broken which rests on `count` in `runs`."""
    if next_runs is None:
        return binomial_tail(count, runs, share)
    most = math.floor(share * next_runs + 1e-9)
    if most >= next_runs:
        return 0.0
    return hypergeometric_tail(count, runs, next_runs, count + most + 1)


def most_allowed(
    runs: int, share: float, confidence: float, next_runs: int | None = None
) -> int | None:
    """Return how many of `runs` may be warned at most; `None`: even none is too many.

    >>> most_allowed(149, 0.02, 0.95), most_allowed(148, 0.02, 0.95), most_allowed(1000, 0.02, 0.95)
    (0, None, 12)
    """
    found = None
    for count in range(runs + 1):
        if risk(count, runs, share, next_runs) > 1 - confidence:
            break
        found = count
    return found


def runs_needed(
    share: float, confidence: float, *, count: int = 0, next_runs: int | None = None
) -> int | None:
    """Return the fewest runs that allow a promise when `count` of them are warned.

    `None`: no number does, as of the next few runs any one may be warned.

    >>> runs_needed(0.02, 0.95), runs_needed(0.005, 0.95)
    (149, 598)
    """
    low, high = count, max(1, count)
    while risk(count, high, share, next_runs) > 1 - confidence:
        low, high = high, high * 2
        if high > MAX_NEEDED:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if risk(count, middle, share, next_runs) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _log_choose(total: int, some: int) -> float:
    if some < 0 or some > total:
        return -math.inf
    return math.lgamma(total + 1) - math.lgamma(some + 1) - math.lgamma(total - some + 1)
