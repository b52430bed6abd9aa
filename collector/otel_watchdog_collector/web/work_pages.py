"""What the watchdog did: corrections, activity, approvals; and the settings it goes by."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import yaml
from starlette.responses import Response

from otel_watchdog.model import Mode
from otel_watchdog_collector.facts import Table
from otel_watchdog_collector.health import HealingMode
from otel_watchdog_collector.web.door import Visit
from otel_watchdog_collector.web.figures import figures
from otel_watchdog_collector.web.parts import Parts
from otel_watchdog_collector.web.preview import DAYS as PREVIEW_DAYS
from otel_watchdog_collector.web.rows import rows
from otel_watchdog_collector.web.shell import Shell

DAYS: Final = 30
MAX_DAYS: Final = 90
MAX_APPROVALS: Final = 200

_DAY: Final = 86_400.0
_WIDTH: Final = 600
_HEIGHT: Final = 120


class Bar(NamedTuple):
    """A day in the histogram, in the picture's units."""

    date: str
    x: float
    width: float
    done: float
    """Height of what was done."""
    would: float
    """Height of what would have been done, on top of it."""
    by_action: Mapping[str, int]


class WorkPages:
    """Shows what the watchdog does.

    Args:
        parts: What there is to ask.
        shell: Renders.
    """

    def __init__(self, parts: Parts, shell: Shell) -> None:
        self._parts = parts
        self._shell = shell

    def corrections(self, visit: Visit) -> Response:
        """Show what corrections came to."""
        days = min(visit.number("days") or DAYS, MAX_DAYS)
        since = self._parts.clock() - days * _DAY
        found = figures(self._parts.store, visit.tenant, since)
        most = max([count for _, count in found.by_tier] + [1])
        context = {"found": found, "days": days, "most": most}
        return self._shell.page(visit, "corrections.html", context)

    def activity(self, visit: Visit) -> Response:
        """Show what healing did, or would have done."""
        days = min(visit.number("days") or DAYS, MAX_DAYS)
        found = self._parts.fleet.activity(visit.tenant, days)
        open_ = rows(self._parts.store, Table.INCIDENTS, visit.tenant, where={"state": "open"})
        most = max([day["count"] for day in found["daily"]] + [1])
        context = {
            "found": found,
            "incidents": [row.fields for row in open_],
            "bars": _bars(found, most),
            "most": most,
            "width": _WIDTH,
            "height": _HEIGHT,
        }
        return self._shell.page(visit, "activity.html", context)

    def approvals(self, visit: Visit) -> Response:
        """Show what agents asked people for."""
        found = list(rows(self._parts.store, Table.APPROVALS, visit.tenant, most=MAX_APPROVALS))
        waiting = [row.fields for row in found if row.fields["state"] == "asked"]
        done = [row.fields for row in found if row.fields["state"] != "asked"]
        return self._shell.page(visit, "approvals.html", {"waiting": waiting, "done": done})

    def settings(self, visit: Visit) -> Response:
        """Show the settings."""
        return self.settings_page(visit, self.written())

    def written(self) -> str:
        """Return the watchdog's settings as YAML."""
        given = dict(self._parts.watchdog)
        return yaml.safe_dump(given, sort_keys=False) if given else "refractory_turns: 2\n"

    def settings_page(
        self, visit: Visit, written: str, status: int = 200, **found: Any
    ) -> Response:
        """Return the settings' page.

        Args:
            visit: Who asks.
            written: What stands in the field for other settings.
            status: Of HTTP.
            **found: `preview` or `problem`, if something was tried.
        """
        fleet = self._parts.fleet
        context = {
            "modes": [mode.label for mode in Mode],
            "healings": [mode.value for mode in HealingMode],
            "healing": fleet.mode(visit.tenant).value,
            "acting": fleet.acting(visit.tenant).value,
            "is_paused_here": "api" in fleet.paused_by(visit.tenant),
            "lines": self._parts.setting_lines() if visit.may_configure else None,
            "written": written,
            "days": PREVIEW_DAYS,
            "is_kept": self._parts.history_chars > 0,
            "preview": None,
            "problem": None,
            **found,
        }
        return self._shell.page(visit, "settings.html", context, status)


def _bars(found: Mapping[str, Any], most: int) -> list[Bar]:
    step = _WIDTH / max(1, len(found["daily"]))
    bars = []
    for number, day in enumerate(found["daily"]):
        would = sum(count for name, count in day["byAction"].items() if name.endswith("-observed"))
        scale = _HEIGHT / most
        bars.append(
            Bar(
                date=day["date"],
                x=round(number * step + 1, 2),
                width=round(step - 2, 2),
                done=round((day["count"] - would) * scale, 2),
                would=round(would * scale, 2),
                by_action=day["byAction"],
            )
        )
    return bars
