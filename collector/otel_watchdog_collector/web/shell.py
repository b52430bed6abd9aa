"""What is around every page: who looks, where they are, what may be done to agents."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from otel_watchdog.model import Mode
from otel_watchdog_collector.web.door import Visit
from otel_watchdog_collector.web.parts import PREFIX, Parts
from otel_watchdog_collector.web.views import Views

PLACES: Final = (
    ("", "Fleet"),
    ("/corrections", "Corrections"),
    ("/activity", "Activity"),
    ("/approvals", "Approvals"),
    ("/settings", "Settings"),
)
"""Pages to go to, by address and name."""


class Shell:
    """Renders pages.

    Args:
        parts: What there is to ask.
        views: Templates.
        is_open: Whether nobody needs to sign in.
    """

    def __init__(self, parts: Parts, views: Views, *, is_open: bool) -> None:
        self._parts = parts
        self._views = views
        self._is_open = is_open

    def page(
        self, visit: Visit, template: str, context: Mapping[str, Any], status: int = 200
    ) -> Response:
        """Return a whole page."""
        mode = self._parts.mode(visit.tenant)
        paused = self._parts.fleet.paused_by(visit.tenant)
        around = {
            "visit": visit,
            "is_open": self._is_open,
            "places": PLACES,
            "path": visit.request.url.path.removeprefix(PREFIX),
            "mode": mode.label,
            "paused": paused,
            "speaks": mode > Mode.OBSERVE and not paused,
            "is_live": visit.asked("live", 8) != "off",
        }
        return self._views.answer(template, {**self._common(), **around, **context}, status)

    def part(self, visit: Visit, template: str, context: Mapping[str, Any]) -> Response:
        """Return a part of a page that is open."""
        live = {"visit": visit, "is_live": True}
        return self._views.answer(template, {**self._common(), **live, **context})

    def plain(self, template: str, context: Mapping[str, Any], status: int) -> Response:
        """Return a page for somebody who is not known."""
        return self._views.answer(template, {**self._common(), **context}, status)

    def _common(self) -> dict[str, Any]:
        return {"prefix": PREFIX, "now": self._parts.clock()}
