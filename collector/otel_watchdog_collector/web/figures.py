"""What the corrections of the last days come to."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final, NamedTuple

from otel_watchdog.model import CorrectionOutcome, Mode, Tier
from otel_watchdog_collector.facts import Row, Table
from otel_watchdog_collector.health import agent_id
from otel_watchdog_collector.stores import Store
from otel_watchdog_collector.web.rows import rows

MAX_ROWS: Final = 20_000
"""Corrections and runs that are read, the latest."""

WORST: Final = 15
"""Agents that are listed."""

_HEEDED: Final = CorrectionOutcome.HEEDED.value
_KNOWN: Final = (_HEEDED, CorrectionOutcome.IGNORED.value, CorrectionOutcome.RELAPSED.value)


class Drifter(NamedTuple):
    """An agent that was corrected."""

    id: str
    corrections: int
    tier: str
    """The firmest."""
    heeded: int
    known: int
    """Corrections of which it is known what came of them."""


class Tokens(NamedTuple):
    """Tokens of runs, as far as their spans tell."""

    runs: int
    told: int
    """Runs that tell."""
    tokens: int
    turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What there is to say of some days."""

    total: int
    would_be: int
    """Of them, those that were not said to anybody."""
    by_tier: Sequence[tuple[str, int]]
    """All five, the mildest first."""
    by_detector: Sequence[tuple[str, int]]
    by_outcome: Mapping[str, int]
    heeded: int
    known: int
    drifters: Sequence[Drifter]
    corrected: Tokens
    """Runs with a correction."""
    others: Tokens
    turns_before: float | None
    """The median turn of a run's first correction."""
    is_cut: bool


def figures(store: Store, tenant: str, since: float) -> Figures:
    """Return what corrections came to since a time."""
    found = list(rows(store, Table.CORRECTIONS, tenant, since=since, most=MAX_ROWS))
    outcomes = Counter(row.fields.get("outcome") or "unknown" for row in found)
    tiers = Counter(row.fields["tier"] for row in found)
    corrected, others = _tokens(store, tenant, since, found)
    firsts: dict[tuple[str, str], int] = {}
    for row in found:
        key = (row.fields["session"], row.fields["run"])
        firsts[key] = min(firsts.get(key, row.fields["turn"]), row.fields["turn"])
    return Figures(
        total=len(found),
        would_be=sum(row.fields["mode"] == Mode.OBSERVE.label for row in found),
        by_tier=[(tier.label, tiers[tier.label]) for tier in Tier],
        by_detector=Counter(row.fields["detector"] for row in found).most_common(),
        by_outcome=dict(outcomes),
        heeded=outcomes[_HEEDED],
        known=sum(outcomes[word] for word in _KNOWN),
        drifters=_drifters(found),
        corrected=corrected,
        others=others,
        turns_before=median(firsts.values()) if firsts else None,
        is_cut=len(found) == MAX_ROWS,
    )


def _drifters(found: Iterable[Row]) -> list[Drifter]:
    """Return the agents that were corrected most."""
    order = [tier.label for tier in Tier]
    own: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in found:
        own[agent_id(str(row.fields.get("service") or ""), row.fields["agent"])].append(row.fields)
    drifters = []
    for id_, fields in own.items():
        outcomes = Counter(one.get("outcome") for one in fields)
        drifters.append(
            Drifter(
                id=id_,
                corrections=len(fields),
                tier=order[max(order.index(one["tier"]) for one in fields)],
                heeded=outcomes[_HEEDED],
                known=sum(outcomes[word] for word in _KNOWN),
            )
        )
    ranked = sorted(drifters, key=lambda one: (-one.corrections, -order.index(one.tier), one.id))
    return ranked[:WORST]


def _tokens(
    store: Store, tenant: str, since: float, corrections: Iterable[Row]
) -> tuple[Tokens, Tokens]:
    """Return the tokens of runs that were corrected, and of the others."""
    keys = {(row.fields["session"], row.fields["run"]) for row in corrections}
    sums = {True: [0, 0, 0, 0], False: [0, 0, 0, 0]}
    for row in rows(store, Table.RUNS, tenant, since=since, most=MAX_ROWS):
        own = sums[(row.fields["session"], row.fields["run"]) in keys]
        given = [row.fields.get("input_tokens"), row.fields.get("output_tokens")]
        own[0] += 1
        own[1] += given != [None, None]
        own[2] += sum(number or 0 for number in given)
        own[3] += row.fields["turns"]
    return Tokens(*sums[True]), Tokens(*sums[False])
