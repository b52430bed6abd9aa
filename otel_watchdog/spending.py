"""What a model call cost, as instrumentations say it."""

import contextlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from otel_watchdog import semconv

_NAMES: Final = (
    semconv.GEN_AI_USAGE_COST,
    semconv.LLM_COST_TOTAL,
    semconv.GEN_AI_COST_TOTAL,
    semconv.OPERATION_COST,
)


def cost_of(attributes: Mapping[str, Any]) -> float | None:
    """Return what a span says that its call cost, in US dollars; `None`: it does not say.

    >>> cost_of({"gen_ai.usage.cost": 0.02}), cost_of({"gen_ai.usage.cost": "much"}), cost_of({})
    (0.02, None, None)
    """
    for name in _NAMES:
        cost = amount(attributes.get(name))
        if cost is not None:
            return cost
    details = attributes.get(semconv.LANGFUSE_COST_DETAILS)
    return _total(details) if isinstance(details, str) else None


def amount(value: object) -> float | None:
    """Return an amount as a `float`, 0 or more; `None` for anything else.

    >>> amount(0.25), amount("0.25"), amount(True), amount(float("nan"))
    (0.25, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None


def _total(details: str) -> float | None:
    with contextlib.suppress(orjson.JSONDecodeError, TypeError, ValueError):
        parts = orjson.loads(details)
        if isinstance(parts, Mapping) and parts:
            return float(parts["total"] if "total" in parts else sum(parts.values()))
    return None
