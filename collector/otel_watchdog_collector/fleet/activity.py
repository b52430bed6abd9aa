"""What the watchdog did, or would have done, day by day, and whether that speaks for healing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from otel_watchdog_collector.health import ConditionType, HealingMode, Status

PREFIX: Final = "watchdog-"
"""Opens the names of actions that count; changes and what people did do not."""

OBSERVED: Final = "-observed"

_SEVERE: Final = frozenset({"crashloop-pause", "giveup"})
_DAY: Final = timedelta(days=1)


def activity(
    entries: Iterable[Mapping[str, Any]],
    agents: Iterable[tuple[str, Mapping[str, Any]]],
    *,
    days: int,
    now: float,
    mode: HealingMode,
) -> dict[str, Any]:
    """Return what `GET /api/watchdog/activity` answers.

    Args:
        entries: Of the audit, as JSON: `time`, `action`. Those with another time than ISO 8601
            are left out.
        agents: Ids and fields of agents' rows.
        days: The day of `now`, UTC, and those before it.
        now: In seconds since the epoch.
        mode: What may be done now, with every kill switch heeded.
    """
    today = datetime.fromtimestamp(now, tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - (days - 1) * _DAY
    found = sorted(_in_window(entries, first), key=lambda item: item[0])
    by_action = Counter(action for _, action in found)
    observed = sum(count for name, count in by_action.items() if name.endswith(OBSERVED))
    last = found[-1] if found else None
    return {
        "days": days,
        "since": first.isoformat().replace("+00:00", "Z"),
        "mode": mode.value,
        "acting": mode is HealingMode.HEAL,
        "total": len(found),
        "taken": len(found) - observed,
        "observed": observed,
        "byAction": dict(sorted(by_action.items())),
        "daily": _daily(found, first, days),
        "agents": [_agent(name, fields) for name, fields in sorted(agents) if _is_judged(fields)],
        "lastAction": last[1] if last else None,
        "lastActionAt": last[0].isoformat().replace("+00:00", "Z") if last else None,
        "promotion": promotion(by_action) if mode is HealingMode.OBSERVE else None,
    }


def promotion(by_action: Mapping[str, int]) -> dict[str, Any]:
    """Return whether nothing that was observed, or done, speaks against healing.

    The would-be pauses are those of a ladder that was climbed as healing would have climbed it.

    >>> promotion({"restart-observed": 2})["reason"]
    'no agent would have been given up; 2 restarts would have been made'
    """
    severe = sum(
        count for name, count in by_action.items() if name.removesuffix(OBSERVED) in _SEVERE
    )
    restarts = sum(
        count for name, count in by_action.items() if name.removesuffix(OBSERVED) == "restart"
    )
    if severe:
        verdicts = "verdict" if severe == 1 else "verdicts"
        return {
            "safe": False,
            "reason": f"{severe} crash-loop {verdicts} to look into first: healing would have "
            "restarted these agents in vain",
        }
    if restarts:
        times = "1 restart" if restarts == 1 else f"{restarts} restarts"
        return {
            "safe": True,
            "reason": f"no agent would have been given up; {times} would have been made",
        }
    return {"safe": True, "reason": "nothing happened that healing would have acted on"}


def _in_window(
    entries: Iterable[Mapping[str, Any]], first: datetime
) -> Iterable[tuple[datetime, str]]:
    for entry in entries:
        action = entry.get("action")
        if not isinstance(action, str) or not action.startswith(PREFIX):
            continue
        try:
            at = datetime.fromisoformat(str(entry.get("time")))
        except ValueError:
            continue
        at = at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
        if at >= first:
            yield at, action.removeprefix(PREFIX)


def _daily(
    found: Iterable[tuple[datetime, str]], first: datetime, days: int
) -> list[dict[str, Any]]:
    by_day: dict[str, Counter[str]] = {
        (first + number * _DAY).date().isoformat(): Counter() for number in range(days)
    }
    for at, action in found:
        day = by_day.get(at.date().isoformat())
        if day is not None:
            day[action] += 1
    return [
        {"date": date, "count": count.total(), "byAction": dict(sorted(count.items()))}
        for date, count in by_day.items()
    ]


def _is_judged(fields: Mapping[str, Any]) -> bool:
    return bool(fields.get("conditions"))


def _agent(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    status = {one["type"]: one["status"] for one in fields["conditions"]}
    return {
        "name": name,
        "state": fields["state"],
        "since": fields["since"],
        "message": fields["message"],
        "authenticated": status.get(ConditionType.AUTHENTICATED.value, Status.UNKNOWN.value),
        "producing": status.get(ConditionType.PRODUCING.value, Status.UNKNOWN.value),
        "paused": fields["paused"] is not None,
    }
